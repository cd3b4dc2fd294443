"""The modules of handlers, one for each class of commands.

Knows: their names. Must not know: what they do.
"""

from amqpspec.reference.amqp_0_10 import exchanges, execution, queues, transfers

CLASSES = (execution, transfers, exchanges, queues)
