"""Queries on the marts: ``status:fail target:rabbitmq -is:known``."""
