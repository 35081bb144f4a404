"""A Java class file with one more field."""

import struct

# Bytes of an entry of the constant pool, its tag included, by tag; a text (1) carries its length.
ENTRY_SIZES = {3: 5, 4: 5, 5: 9, 6: 9, 7: 3, 8: 3, 9: 5, 10: 5, 11: 5, 12: 5, 15: 4, 16: 3, 17: 5, 18: 5, 19: 3, 20: 3}
TEXT = 1
# A long or a double counts as two entries.
TWICE = (5, 6)
PRIVATE_STATIC = 0x000A


def short(content, position):
    return struct.unpack(">H", content[position:position + 2])[0]


def add_static_boolean(content, field):
    """The class with a private static boolean of that name, false to begin with."""
    count, position, index = short(content, 8), 10, 1
    while index < count:
        tag = content[position]
        position += 3 + short(content, position + 1) if tag == TEXT else ENTRY_SIZES[tag]
        index += 2 if tag in TWICE else 1
    pool = content[10:position]
    for text in (field.encode(), b"Z"):
        pool += struct.pack(">BH", TEXT, len(text)) + text
    # Access, name, superclass and the list of interfaces stand before the fields.
    fields = position + 8 + 2 * short(content, position + 6)
    added = struct.pack(">HHHH", PRIVATE_STATIC, count, count + 1, 0)
    return (content[:8] + struct.pack(">H", count + 2) + pool + content[position:fields]
            + struct.pack(">H", short(content, fields) + 1) + added + content[fields + 2:])
