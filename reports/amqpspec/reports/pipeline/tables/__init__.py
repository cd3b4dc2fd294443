"""How marts are made: each a pure function of rollups and dimensions, one module each."""
