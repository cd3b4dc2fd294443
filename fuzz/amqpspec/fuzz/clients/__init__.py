"""The fuzzer in the server's role: clients under test meet a server whose frames are bent."""
