"""The same inputs on several targets, and where their reactions differ."""
