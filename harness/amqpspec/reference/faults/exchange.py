"""Faults of exchange: types, instances, declaring, lasting, deleting, binding."""

from amqpspec.reference.faults.fault import Fault

_TYPES, _MORE_TYPES = ("exchange/required-types",), ("exchange/recommended-types",)
_DIRECT = (
    *_TYPES,
    "exchange/default-exchange",
    "exchange/required-instances/direct",
    "queue/bind/routing-key/direct-exchange-key-matching",
)
_INSTANCES = ("exchange/required-instances/amq-type",)
_BLANK = (
    "exchange/bind/destination/default-exchange",
    "exchange/bind/source/default-exchange",
    "exchange/unbind/destination/default-exchange",
    "exchange/unbind/source/default-exchange",
    "queue/bind/exchange/default-exchange",
    "queue/unbind/exchange/default-exchange",
)
_UNBIND = (
    "exchange/unbind/failure",
    "exchange/unbind/destination/must-exist",
    "exchange/unbind/source/must-exist",
)

_ROUTING = (
    Fault("direct-matches-prefix", _DIRECT, "a direct exchange takes a key that begins like the binding's"),
    Fault("direct-ignores-case", _DIRECT, "a direct exchange takes capital for small letters"),
    Fault("direct-ignores-keys", _DIRECT, "a direct exchange passes everything to every queue"),
    Fault("fanout-looks-at-key", _TYPES, "a fanout exchange wants equal keys"),
    Fault("fanout-not-implemented", _TYPES, "there is no type fanout"),
    Fault(
        "first-queue-only",
        (*_TYPES, "confirm/all-queues", "queue/bind/routing-key/direct-exchange-key-matching"),
        "of the queues that fit only one gets the message",
    ),
    Fault(
        "one-binding-per-destination",
        (*_TYPES, "exchange/bind/duplicates", "queue/bind/binding-count"),
        "a second binding replaces the first one",
    ),
    Fault("bindings-shared-by-type", _TYPES, "exchanges of the same type use each other's bindings"),
    Fault("topic-not-implemented", _MORE_TYPES, "there is no type topic"),
    Fault("topic-hash-needs-a-word", _MORE_TYPES, "in a topic pattern # stands for one word or more"),
    Fault("topic-star-is-hash", _MORE_TYPES, "in a topic pattern * stands for any number of words"),
    Fault("headers-all-any-swapped", _MORE_TYPES, "x-match all is taken for any, and any for all"),
    Fault("headers-value-ignored", _MORE_TYPES, "a headers exchange looks at names and not at values"),
    Fault("headers-void-means-void", _MORE_TYPES, "a field without a value asks for a header without one"),
    Fault(
        "headers-reserved-fields-compared", _MORE_TYPES, "fields that begin with x- take part in the match"
    ),
    Fault("headers-look-at-keys", _MORE_TYPES, "a headers exchange wants equal keys too"),
    Fault(
        "direct-exchange-not-predeclared", ("exchange/required-instances/direct",), "there is no amq.direct"
    ),
    Fault("fanout-exchange-not-predeclared", _INSTANCES, "there is no amq.fanout"),
    Fault("topic-exchange-not-predeclared", _INSTANCES, "there is no amq.topic"),
    Fault("headers-exchange-not-predeclared", _INSTANCES, "there is neither amq.headers nor amq.match"),
    Fault(
        "standard-exchanges-in-one-virtual-host",
        (*_INSTANCES, "exchange/required-instances/direct"),
        "only the first virtual host has the standard exchanges",
    ),
    Fault(
        "blank-exchange-not-published-to",
        (
            "exchange/required-instances/direct",
            "exchange/default-exchange",
            "basic/publish/exchange/default-exchange",
        ),
        "a publication without an exchange is refused",
    ),
)
_DECLARING = (
    Fault(
        "exchange-declare-creates-nothing", ("exchange/declare",), "declare is confirmed and makes nothing"
    ),
    Fault(
        "exchange-declare-not-confirmed",
        ("exchange/declare-ok", "exchange/declare"),
        "declare gets no declare-ok",
    ),
    Fault("exchange-redeclare-resets", ("exchange/declare",), "a second declare drops the bindings"),
    Fault("fifteen-exchanges-at-most", ("exchange/declare/minimum",), "a sixteenth exchange is refused"),
    Fault(
        "reserved-names-always-refused",
        ("exchange/declare/exchange/reserved",),
        "names that begin with amq. are refused where they may be declared",
    ),
    Fault("colon-refused-in-names", ("exchange/declare/exchange/syntax",), "a colon in a name is refused"),
    Fault(
        "exchange-redeclare-takes-type",
        ("exchange/declare/type/typed",),
        "a refused declare changes the type",
    ),
    Fault(
        "passive-exchange-declare-resets",
        ("exchange/declare/passive/exists",),
        "a passive declare drops bindings",
    ),
    Fault(
        "passive-exchange-declare-compares",
        ("exchange/declare/passive/ignored-fields",),
        "a passive declare compares type, durability and arguments",
    ),
    Fault(
        "quiet-passive-exchange-declare-answered",
        ("exchange/declare/passive/no-wait",),
        "a quiet passive declare is answered",
    ),
    Fault(
        "passive-no-wait-creates-exchange",
        ("exchange/declare/passive/no-wait",),
        "a quiet passive declare makes an exchange",
    ),
    Fault(
        "exchange-arguments-not-compared",
        ("exchange/declare/passive/equivalent-check",),
        "a declare with other arguments is confirmed",
    ),
    Fault(
        "exchange-arguments-compared-in-order",
        ("exchange/declare/passive/equivalent-match",),
        "arguments in another order are other arguments",
    ),
    Fault(
        "exchange-redeclare-refused",
        ("exchange/declare/passive/equivalent-match",),
        "a second declare is refused",
    ),
    Fault(
        "exchange-durable-not-compared",
        ("exchange/declare/passive/equivalent-mismatch", "exchange/declare/passive/equivalent-check"),
        "a declare with other properties is confirmed",
    ),
    Fault(
        "no-wait-failure-ignored",
        ("exchange/no-wait",),
        "a declare without a reply fails in silence",
    ),
)
_LASTING = (
    Fault(
        "durable-exchanges-refused", ("exchange/declare/durable/support",), "a durable exchange is refused"
    ),
    Fault(
        "durable-exchange-lost", ("exchange/declare/durable/restart",), "a restart takes durable exchanges"
    ),
    Fault(
        "transient-exchange-survives",
        ("exchange/declare/durable/restart",),
        "a restart leaves transient exchanges",
    ),
    Fault(
        "auto-delete-exchange-stays",
        ("exchange/declare/auto-delete/unused",),
        "an auto-delete exchange without bindings stays",
    ),
    Fault(
        "unused-exchange-goes-at-once",
        ("exchange/declare/auto-delete/delay",),
        "an auto-delete exchange goes at the moment in which it loses its last binding",
    ),
    Fault(
        "unused-exchange-goes-before-its-first-binding",
        ("exchange/declare/auto-delete/never-used",),
        "an auto-delete exchange that was never bound goes like one that was",
    ),
    Fault(
        "exchange-redeclare-takes-flags",
        ("exchange/declare/auto-delete/pre-existence",),
        "a second declare changes auto-delete",
    ),
    Fault(
        "internal-exchange-published-to",
        ("exchange/declare/internal", "basic/publish/exchange/internal"),
        "an internal exchange takes publications",
    ),
    Fault(
        "bound-exchanges-not-followed",
        ("exchange/declare/internal", "exchange/bind/duplicates", "exchange/bind/cyclical", *_BLANK[:2]),
        "messages do not pass from exchange to exchange",
    ),
)
_DELETING = (
    Fault("exchange-delete-does-nothing", ("exchange/delete",), "delete is confirmed and deletes nothing"),
    Fault(
        "exchange-delete-leaves-bindings",
        ("exchange/delete",),
        "bindings wait for an exchange of the same name",
    ),
    Fault(
        "exchange-if-unused-always-refused",
        ("exchange/delete/if-unused/in-use",),
        "if-unused refuses every delete",
    ),
)
_BINDING = (
    Fault("duplicate-exchange-binding-refused", ("exchange/bind/duplicates",), "a second bind is refused"),
    Fault(
        "exchange-not-bound-to-itself", ("exchange/bind/cyclical",), "an exchange cannot be bound to itself"
    ),
    Fault(
        "exchange-reached-again",
        ("exchange/bind/unique", "exchange/bind/cyclical"),
        "a message passes an exchange on each of its ways, and goes round a circle again",
    ),
    Fault("blank-exchange-not-understood", _BLANK, "a blank exchange name is refused in bind and unbind"),
    Fault(
        "exchange-unbind-does-nothing",
        (*_BLANK[2:4], "exchange/bind/duplicates", "exchange/no-wait"),
        "unbind of exchanges is confirmed and undoes nothing",
    ),
    Fault("exchange-unbind-never-fails", _UNBIND, "unbind of exchanges that do not exist is confirmed"),
)
FAULTS: tuple[Fault, ...] = (*_ROUTING, *_DECLARING, *_LASTING, *_DELETING, *_BINDING)
