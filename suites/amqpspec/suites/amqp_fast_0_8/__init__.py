"""The suite of AMQP/Fast 0.8d6: one module per chapter, cases in the order of the text.

Modules with an underscore hold steps that cases share.
"""

DIALECT = "amqp-fast-0-8"
ORDER = (
    "virtual_hosts",
    "frames",
    "scenarios",
    "errors",
    "syntax",
    "initiation",
    "tables",
    "login",
    "tuning",
    "dictionaries",
    "connection",
    "channel",
    "transactions",
    "acknowledging",
    "messages",
    "handle",
    "consuming",
    "flow",
    "browsing",
    "restartable",
    "restartable_download",
)
