"""The version of the program. It stands here and not in the metadata of an installed package: the image runs from its files, without any."""

VERSION = "0.1.0"
