"""Questions to marts: ``status:fail target:rabbitmq -is:known``."""
