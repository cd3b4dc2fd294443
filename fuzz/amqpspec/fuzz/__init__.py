"""The fuzzer. Each room imports only from those below it; import-linter checks it.

- ``methods``, ``amqp_1_0``: the drivers: what the 0-9 family and AMQP 1.0 bring along; only dialects' entries name them
- ``driver``: everything that a driver provides: the sum of what the packages below need
- ``selftest``: brokers with a planted defect, and how well defects are found; no part of a campaign
- ``differential``: the same inputs at several targets, and where their reactions differ
- ``interop``: seeds from captures, scripts and sessions for boofuzz
- ``clients``: the same families in the server's role, against agents of clients
- ``sequences``: programs of legal steps over several connections, compared with a model
- ``campaign``: what is sent next, what is counted, what is written down when
- ``triage``: from a suspicion to a finding: which input is to blame, how small it can be
- ``oracles``: what is asked of the target: is it alive, does it leak, what does it burn
- ``coverage``: which code the target has run, where it can say so
- ``executor``: the only room with sockets: many conversations at once
- ``inputs``: inputs by their ids: cells of the families, random mutation, recorded octets
- ``families``: what is bent, role by role
- ``judge``: what the ledger expects for octets sent in a state
- ``states``: ways into states and back, what may legally follow
- ``grammar``: productions made from a dialect's tables
- ``parts``: how a driver is found; ``trees``: trees of parts with roles, drawn choices, odd values, mutators
"""
