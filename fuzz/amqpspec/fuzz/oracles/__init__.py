"""What tells that something went wrong: in an answer, in the target's process, in its log, in what it keeps."""
