"""The matrix: one HTML file that needs nothing else, for one run or several."""
