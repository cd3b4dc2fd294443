"""A campaign of the fuzzer as JUnit, SARIF and one HTML page, from the files in its folder."""
