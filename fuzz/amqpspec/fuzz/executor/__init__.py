"""The one place of the fuzzer with sockets and clocks: many connections at once, one thread."""
