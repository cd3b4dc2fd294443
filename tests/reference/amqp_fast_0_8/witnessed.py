"""What the two clients of 2005 sent to the reference broker when they were driven here, and what it answered, in hex.

Made by running ``tests/witnesses`` against a fresh broker; the Java client's client name holds the time of that run.
"""

PERL_SAID = bytes.fromhex(
    "8001"
    "00290b05504c41494e001f054c4f47494e53000567756573740850415353574f52445300056775657374ce"
    "00150c000f094652414d455f4d41584900007d000000ce"
    "00100d0001012f077769746e6573730000ce"
    "000a140001000200000000ce"
    "000d1e0001000100030300000000ce"
    "000e20000100040001000104000000ce"
    "00201f00010000000100000021001274656d706f726172792e3030303030303031ce"
    "000000050004000000000a746578742f706c61696e00036f6e65000068656c6c6f"
    "000a150001000500000001ce"
    "00030e01ce"
    "000731000100c800ce"
    "00071d000100c800ce"
    "00051300c800ce"
)
PERL_HEARD = (
    "connection.challenge", "connection.tune", "connection.reply", "channel.reply", "handle.reply", "handle.created",
    "handle.reply", "handle.notify", "channel.reply", "connection.ping", "handle.close", "channel.close",
    "connection.close",
)  # fmt: skip
JAVA_SAID = bytes.fromhex(
    "8001"
    "00290b05504c41494e001f054c4f47494e53000567756573740850415353574f52445300056775657374ce"
    "00170d0000012f0e2d313739353337303833303637350000ce"
    "000a140001000100000000ce"
    "000f1e00010001000200010200000000ce"
    "001a1300c815436c69656e742073617973206175207265766f6972ce"
)
