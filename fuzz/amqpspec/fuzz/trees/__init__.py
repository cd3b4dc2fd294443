"""What inputs are made of: trees of parts with roles, drawn choices, odd values, mutators."""
