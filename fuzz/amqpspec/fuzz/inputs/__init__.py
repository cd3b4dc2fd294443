"""Inputs by their ids: cells of the families, random mutation, recorded octets."""
