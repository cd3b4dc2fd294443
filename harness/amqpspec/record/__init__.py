"""The recorded results of a run: rows, journal, transcripts, captures."""
