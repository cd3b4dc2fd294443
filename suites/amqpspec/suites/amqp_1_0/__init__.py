"""The suite of AMQP 1.0: Part 2 with one module per chapter or performative, cases in the order of the specification;
then what other parts have, a module each.

Modules with an underscore hold steps that cases share.
"""

DIALECT = "amqp-1-0"
ORDER = (
    "model",
    "version",
    "framing",
    "connections",
    "connections_closing",
    "connections_idle",
    "connections_states",
    "open_close",
    "sessions",
    "sessions_states",
    "sessions_windows",
    "begin_end",
    "links",
    "links_attach",
    "links_resume",
    "links_detach",
    "links_flow",
    "attach_detach",
    "attach_unsettled",
    "flow",
    "transfers",
    "transfers_resume",
    "transfer",
    "transfer_settling",
    "disposition",
    "definitions",
    "definitions_conditions",
    "edges",
    "messaging",
    "messaging_termini",
    "security",
    "security_login",
    "transactions",
    "transactions_retiring",
    "extensions",
    "histories",
)
