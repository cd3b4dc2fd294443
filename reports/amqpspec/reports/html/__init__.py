"""The matrix: one self-contained HTML file for one run or several."""
