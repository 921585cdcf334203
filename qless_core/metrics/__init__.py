"""What is measured, told to those who draw graphs and ring bells: statsd and Prometheus."""

from __future__ import annotations
