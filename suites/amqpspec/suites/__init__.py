"""The suites: one package a dialect, one module a class of the specification."""
