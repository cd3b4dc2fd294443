"""The plots: where points stand, what is said of them, and that no text breaks out."""

from __future__ import annotations

from xml.etree import ElementTree

from amqpspec.reports.site.svg import HeatCell, HeatMap, Plot, Point, Series, heat_map, lines, spark
from tests.site.marts import HOSTILE

Element = ElementTree.Element


def parsed(picture: str) -> Element:
    return ElementTree.fromstring(picture)


def plot(*points: Point, high: float | None = 100, low: float = 80) -> Plot:
    return Plot(
        "p", "Score", "Two runs.", [Series("score", points)], [(0, "first")], [(1, "4.0")], low, high, " %"
    )


def test_a_picture_is_named_and_described() -> None:
    root = parsed(lines(plot(Point(0, 90, "a"), Point(1, 100, "b"))))
    assert root.get("role") == "img"
    assert [root.findtext("title"), root.findtext("desc")] == ["Score", "Two runs."]
    assert (root.get("aria-labelledby"), root.get("aria-describedby")) == ("p-t", "p-d")
    assert {element.get("id") for element in root if element.get("id")} == {"p-t", "p-d"}


def test_points_stand_where_their_values_say() -> None:
    root = parsed(lines(plot(Point(0, 80, "low"), Point(1, 90, "half"), Point(4, 100, "full", hollow=True))))
    circles = root.findall(".//circle")
    x, y = ([float(circle.get(name, "")) for circle in circles] for name in ("cx", "cy"))
    assert (x[1] - x[0]) * 3 - (x[2] - x[1]) < 0.5
    assert abs((y[0] + y[2]) / 2 - y[1]) < 0.2 and y[0] > y[2]
    assert [circle.findtext("title") for circle in circles] == ["low", "half", "full"]
    assert ["hollow" in circle.get("class", "") for circle in circles] == [False, False, True]
    line = root.find(".//polyline")
    assert line is not None
    assert line.get("points", "").split() == [f"{x[n]:.1f},{y[n]:.1f}" for n in (0, 1)]


def test_an_axis_ends_at_its_top_and_has_whole_numbers() -> None:
    texts = [text.text for text in parsed(lines(plot(Point(0, 81, ""), low=75))).findall("text")]
    assert "100 %" in texts and "75 %" not in texts
    counts = parsed(lines(plot(Point(0, 1, ""), Point(1, 3, ""), high=None, low=0)))
    assert [text.text for text in counts.findall("text")][:4] == ["0 %", "1 %", "2 %", "3 %"]


def test_lines_without_a_point_or_with_one_draw() -> None:
    assert parsed(lines(plot())).findall(".//circle") == []
    assert parsed(lines(plot(Point(5, 5, "one"), low=5, high=None))).find(".//polyline") is None


def test_a_spark_has_as_many_spots_as_values() -> None:
    line = parsed(spark("s", "t", [90.0, 95.0, 100.0])).find("polyline")
    assert line is not None and len(line.get("points", "").split()) == 3
    assert parsed(spark("s", "t", [])).findall("circle") == []


def test_a_heat_map_says_its_numbers() -> None:
    cells = [[HeatCell("50 %", 1, "channel, a: 1/2"), HeatCell("–", None, "no case ran")]]
    root = parsed(heat_map(HeatMap("h", "Heat", "Text", ["channel"], ["a", "b"], cells)))
    groups = root.findall("g")
    assert [group.get("class") for group in groups] == ["h1", "hnone"]
    assert [group.findtext("text") for group in groups] == ["50 %", "–"]
    assert groups[0].findtext("title") == "channel, a: 1/2"


def test_hostile_text_stays_text() -> None:
    cell = HeatCell(HOSTILE, 0, HOSTILE)
    heat = HeatMap("h", HOSTILE, HOSTILE, [HOSTILE], [HOSTILE], [[cell]])
    drawn = Plot(
        "p", HOSTILE, HOSTILE, [Series(HOSTILE, [Point(0, 1, HOSTILE)])], [(0, HOSTILE)], [(0, HOSTILE)]
    )
    for picture in (heat_map(heat), lines(drawn), spark("s", HOSTILE, [1.0])):
        assert {element.tag for element in parsed(picture).iter()} <= {
            "svg", "title", "desc", "g", "rect", "text", "circle", "line", "polyline",
        }  # fmt: skip
        assert "\u202e" not in picture
