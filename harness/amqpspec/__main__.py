"""``python -m amqpspec``: the command line."""

from amqpspec.cli.main import main

main()
