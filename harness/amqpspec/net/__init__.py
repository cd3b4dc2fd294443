"""The only sockets, TLS and clocks of the harness."""
