"""Alerts: rules about the queues, who looks whether they hold, and whom that is told."""
