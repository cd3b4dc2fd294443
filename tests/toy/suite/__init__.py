"""The suite of Echo."""

DIALECT = "echo-1"
