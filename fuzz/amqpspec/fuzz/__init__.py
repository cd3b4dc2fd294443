"""The fuzzer: what it bends, in which state of a conversation, and what it expects of the target."""
