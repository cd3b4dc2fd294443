"""The journal of a campaign: names of inputs, findings on disk, places that cannot be written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from amqpspec.fuzz.campaign.journal import CampaignJournal, batches, findings_in, inputs_of, read_progress
from amqpspec.fuzz.grammar import grammar_hash
from amqpspec.fuzz.inputs.identity import IdError
from amqpspec.record.journal import JournalError

CELL = f"g:{grammar_hash('amqp-0-9-1')}/C05/frame.too-large/limits/s0"


def test_a_batch_line_names_every_input(tmp_path: Path) -> None:
    journal = CampaignJournal(tmp_path)
    journal.line("batch", spans=[[f"{CELL}/1", f"{CELL}/7", 3], [f"{CELL}/9", f"{CELL}/9", 1]])
    journal.line("done", left=[])
    journal.line("batch", ids=["g:x/1", "g:x/2"])
    journal.close()
    named = [list(inputs_of(line)) for line in batches(tmp_path)]
    assert named == [[f"{CELL}/1", f"{CELL}/4", f"{CELL}/7", f"{CELL}/9"], ["g:x/1", "g:x/2"]]
    with pytest.raises(IdError, match="expected g:HASH8"):
        list(inputs_of({"spans": [["nonsense", "nonsense", 1]]}))


def test_findings_are_those_that_were_written_whole(tmp_path: Path) -> None:
    for name, text in (("log-1", '{"signature": "1"}'), ("log-2", '{"sig'), ("log-3", "[]"), ("log-4", "{}")):
        place = tmp_path / "findings" / name
        place.mkdir(parents=True)
        (place / "finding.json").write_text(text, encoding="utf-8")
    (tmp_path / "findings" / "log-5").mkdir()
    assert findings_in(tmp_path) == {"1": "log-1"} and findings_in(tmp_path / "none") == {}


def test_where_a_campaign_stands_is_replaced_as_a_whole(tmp_path: Path) -> None:
    journal = CampaignJournal(tmp_path)
    journal.write_checkpoint({"position": 1})
    (tmp_path / ".progress.json").mkdir()
    with pytest.raises(JournalError, match=r"cannot write .*progress.json"):
        journal.write_checkpoint({"position": 2})
    journal.close()
    assert read_progress(tmp_path) == {"position": 1}


def test_a_full_disk_is_told_in_one_line_and_spoils_nothing(tmp_path: Path) -> None:
    journal = CampaignJournal(tmp_path)
    journal.line("batch", ids=["a"])
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, journal._fd)
    os.close(full)
    with pytest.raises(JournalError, match=r"cannot write .*journal.jsonl: No space left") as told:
        journal.line("batch", ids=["b"])
    journal.close()
    assert "\n" not in str(told.value)
    assert [json.loads(line)["ids"] for line in (tmp_path / "journal.jsonl").read_text().splitlines()] == [
        ["a"]
    ]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("a file", encoding="utf-8")
    with pytest.raises(JournalError, match="cannot write"):
        CampaignJournal(tmp_path / "c")
