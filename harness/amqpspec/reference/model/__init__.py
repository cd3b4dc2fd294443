"""The broker model that every dialect shares: virtual hosts, exchanges, queues, messages, consumers, users.

Knows: what the AMQ model says of routing, order, exclusivity, lifetimes, windows and durability. Must not know:
octets, frames, reply codes, sockets, or which dialect is talking. Errors are return values (None, False, an empty
tuple), which the protocol layer turns into refusals.
"""

from amqpspec.reference.model.deliveries import Deliveries, Delivery, Window
from amqpspec.reference.model.exchanges import EXCHANGE_TYPES, Binding, Exchange
from amqpspec.reference.model.messages import Entry, Message
from amqpspec.reference.model.queues import Consumer, Queue, Taker
from amqpspec.reference.model.users import DEFAULT_USERS, DEFAULT_VHOSTS, User
from amqpspec.reference.model.values import canonical
from amqpspec.reference.model.vhost import Routed, VirtualHost

__all__ = [
    "DEFAULT_USERS",
    "DEFAULT_VHOSTS",
    "EXCHANGE_TYPES",
    "Binding",
    "Consumer",
    "Deliveries",
    "Delivery",
    "Entry",
    "Exchange",
    "Message",
    "Queue",
    "Routed",
    "Taker",
    "User",
    "VirtualHost",
    "Window",
    "canonical",
]
