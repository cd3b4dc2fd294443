"""Mutation testing of the reference brokers: does the suite detect unnamed deviations?

Knows: which rooms there are. Must not know: any of them.

``operators`` says how one expression or statement can be wrong, ``places`` finds all such changes in a module,
``surgery`` puts one into the running code, ``reach`` says which cases execute which lines, ``trial`` runs the cases
against one mutant, ``survey`` samples, runs trials in parallel and adds up.
"""
