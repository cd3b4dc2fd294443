"""What a run leaves behind: rows, journal, transcripts, captures."""
