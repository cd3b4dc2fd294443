"""The journal of observations: an append-only Arrow IPC stream, readable up to a cut.

Knows: files, batches, dictionaries that grow. Must not know: the meaning of a row, its source.

Each process that writes has a separate file, ``observations/000001.arrows`` and so on. A batch is one write: after a
kill at any point, everything except the current batch can be read. Columns with few distinct texts use dictionaries;
a batch contains only new entries.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from amqpspec.record.journal import JournalError
from amqpspec.record.observation import arrow_schema

FOLDER = "observations"
_SUFFIX = ".arrows"
_MOST_NAMES = 1 << 16
"""With more values, a new dictionary is started, so that a target's data cannot make it grow without limit."""
_MOST_FILES = 999_999


class _Names:
    """The dictionary of one column; it only grows, so that a stream can contain only additions."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._array = pa.array([], pa.string())

    def encoded(self, values: Sequence[str | None]) -> pa.DictionaryArray:
        if len(self._codes) > _MOST_NAMES:
            self._codes = {}
        codes, known = self._codes, len(self._codes)
        at = [None if value is None else codes.setdefault(value, len(codes)) for value in values]
        if len(codes) != known or len(self._array) != known:
            self._array = pa.array([_writable(name) for name in codes], pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(at, pa.int32()), self._array)


class ArrowJournal:
    """Appends rows to a new file in ``observations/``, created with the first of them. Raises JournalError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER
        self.path: Path | None = None
        self._schema = arrow_schema()
        self._names = {field.name: _Names() for field in self._schema if pa.types.is_dictionary(field.type)}
        self._out = io.BytesIO()
        self._fd: int | None = None
        self._broken = False
        self._stream: Any = None

    def write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write one batch with one write; nothing without rows."""
        if not rows:
            return
        if self._fd is None:
            self._open()
        arrays = [self._column(field, [row[field.name] for row in rows]) for field in self._schema]
        self._stream.write_batch(pa.record_batch(arrays, schema=self._schema))
        self._flush()

    def close(self) -> None:
        """End the stream. Earlier data do not depend on it."""
        if self._fd is None:
            return
        with suppress(JournalError):
            if not self._broken:
                self._stream.close()
                self._flush()
        os.close(self._fd)
        self._fd = None

    def _column(self, field: pa.Field, values: list[Any]) -> pa.Array:
        if field.name in self._names:
            return self._names[field.name].encoded(values)
        if field.type == pa.string():
            values = [value if value is None else _writable(value) for value in values]
        return pa.array(values, field.type)

    def _open(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.path, self._fd = _new_file(self.folder)
        except OSError as error:
            raise JournalError(f"cannot write {self.folder}: {error.strerror}") from error
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True, compression="zstd")
        self._stream = pa.ipc.new_stream(self._out, self._schema, options=options)

    def _flush(self) -> None:
        """Write the buffered stream with one write; after a failure nothing more is written, and the existing data
        stay.
        """
        octets = self._out.getvalue()
        self._out.seek(0)
        self._out.truncate()
        if self._broken:
            raise JournalError(f"cannot write {self.path}: an earlier write has failed")
        assert self._fd is not None
        try:
            written = os.write(self._fd, octets)
        except OSError as error:
            self._broken = True
            raise JournalError(f"cannot write {self.path}: {error.strerror}") from error
        if written != len(octets):
            self._broken = True
            raise JournalError(f"cannot write {self.path}: {written} of {len(octets)} octets, no space left")


def observation_files(folder: Path) -> list[Path]:
    """The files of observations in a folder of a run or campaign, in the order of their creation."""
    return sorted((folder / FOLDER).glob(f"*{_SUFFIX}"))


def read_observations(path: Path) -> Iterator[pa.RecordBatch]:
    """Every complete batch of a file, one at a time; an incomplete one at the end is skipped. Raises JournalError."""
    try:
        with path.open("rb") as file:
            if not file.read(1):
                return
            file.seek(0)
            yield from _batches(file)
    except OSError as error:
        raise JournalError(f"cannot read {path}: {error.strerror or error}") from error


def _batches(file: Any) -> Iterator[pa.RecordBatch]:
    """Batches until the stream or the file ends; Arrow reports an incomplete end with errors of two kinds."""
    try:
        reader = pa.ipc.open_stream(file)
    except (pa.ArrowInvalid, OSError):
        return
    while True:
        try:
            batch = reader.read_next_batch()
        except (StopIteration, pa.ArrowInvalid, OSError):
            return
        yield batch


def _new_file(folder: Path) -> tuple[Path, int]:
    """The next free number; two processes never get the same one."""
    taken = [int(path.stem) for path in folder.glob(f"*{_SUFFIX}") if path.stem.isdecimal()]
    for number in range(max(taken, default=0) + 1, _MOST_FILES + 1):
        path = folder / f"{number:06}{_SUFFIX}"
        with suppress(FileExistsError):
            return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
    raise OSError(0, f"expected fewer than {_MOST_FILES} files")


def _writable(text: str) -> str:
    """A text that UTF-8 can encode; lone surrogates are escaped."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
