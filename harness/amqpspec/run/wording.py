"""Phrases that verdicts used earlier, and their present form: baselines and runs of users still contain the old ones.

Knows: phrases. Must not know: rows, baselines.
"""

from __future__ import annotations

_PRESENT = (
    ("behind it was answered", "after it was answered"),
    ("behind it)", "after it)"),
    ("the client went on", "the client continued"),
    ("the application learned of it", "the application was informed"),
    ("the application ended as if nothing had happened", "the application ended normally"),
    ("the application did not come to an end in time", "the application did not end in time"),
    ("the application took more memory than it may", "the application exceeded its memory limit"),
    ("the application was not watched", "the application was not observed"),
    ("session.expected behind the next flush", "session.expected after the next flush"),
    ("behind close", "after close"),
    ("behind end", "after end"),
    ("messages came first", "messages arrived first"),
    ("deliveries of one message, and it still comes", "deliveries of one message, with no end"),
    ("message, and whether it came too early", "message, and whether it arrived too early"),
    ("before, behind", "before, after"),
    ("before, other, behind, left", "before, other, after, left"),
    ("before and behind", "before and after"),
    ("behind cancel, waiting", "after cancel, waiting"),
    ("behind stop", "after stop"),
    ("told completed", "reported completed"),
    ("lost of what was confirmed", "confirmed and lost"),
    ("files that come again", "files delivered again"),
    ("there, then gone", "exists, then deleted"),
    ("gone, and there", "first deleted, second exists"),
    ("gone with its session", "deleted with its session"),
    ("nobody asked for it", "not requested"),
    ("no flush asked for it", "no flush requested it"),
    ("behind a commit", "after a commit"),
    ("comes from servers", "is sent by servers"),
    (
        "there with one binding left, and gone afterwards",
        "exists with one binding left, and deleted afterwards",
    ),
    ("messages that come again", "messages delivered again"),
    ("*come again [", "*delivered again ["),
    ("message got, then left", "message fetched, then left"),
    ("names that did not come back", "names that were not returned"),
    ("lives on; the target sends", "stays open; the target sends"),
    ("with nothing to tell", "with nothing to report"),
    ("the server goes on with tune", "the server continues with tune"),
    ("goes on with the other source", "continues with the other source"),
    ("what came before the other close was taken", "what arrived before the other close was accepted"),
    ("no disposition when the time had run out", "no disposition when the time was over"),
    ("outcomes told", "outcomes reported"),
    ("outcome told", "outcome reported"),
    ("failure told", "failure reported"),
    ("the target answers to no echo", "the target does not answer echo"),
    ("a name alone", "only a name"),
    ("served whatever the host", "served for any host"),
    ("files where there was room for", "files although there was room for"),
    ("are sent ahead where there is no window", "are sent ahead without a window"),
    ("it is taken for", "it is treated as"),
    ("read, but not taken", "read, but not accepted"),
    ("its map told as", "its map sent as"),
    ("beside the incomplete map", "despite the incomplete map"),
    ("reset, though the other close had not come", "reset before the other close"),
    ("were told", "were announced"),
    ("gone; a needless", "removed; an unnecessary"),
    ("gone, and no disposition", "removed, and no disposition"),
    ("behind a header", "after a header"),
    ("behind open", "after open"),
    ("it was gone", "it did not exist"),
    ("it was there", "it existed"),
    ("a node is made for a", "a node is created for a"),
    ("both live on", "both stay open"),
    ("silence is borne", "silence is tolerated"),
    (": let in", ": logged in"),
    ("of the unsettled deliveries, told", "unsettled deliveries reported"),
    ("whether they take their time", "whether they wait for the interval"),
    ("was asked for", "was requested"),
    ("no segment behind it", "no segment after it"),
)


def present(text: str) -> str:
    """The text in today's phrases."""
    for old, new in _PRESENT:
        text = text.replace(old, new)
    return text
