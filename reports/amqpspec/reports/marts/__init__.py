"""The marts as everyone reads them: one declaration of each row, and the rows of a folder."""
