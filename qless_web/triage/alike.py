"""Lines that differ only in what varies, made alike: words stay, values become a `#`. Pure.

What varies is a number, an id, a date, an address, a path, what stands between quotes, a list or an
object of such. Words stay, so that two errors that say different things stay two.
"""

from __future__ import annotations

import re
from functools import lru_cache

#: Characters of a line that are looked at, and of the result.
LOOKED_AT, MOST = 1_000, 240

#: Characters of one word beyond which it is no word.
_WORD = 120

#: What stands for a value, for text between quotes, for what is in brackets, an address, a path.
VALUE, QUOTED, PATH, ADDRESS, MAIL = "#", "'…'", "<path>", "<url>", "<email>"

#: A span of time and an amount of bytes, whatever their unit: a value with its kind.
_TIME, _BYTES = "#\x02", "#\x03"

#: Stands for an object until the brackets around it have been looked at.
_BLOB = "\x01"


def alike(line: str) -> str:
    """Make a line alike to those that differ from it only in values.

    >>> alike("order 12 of 'ana' was refused after 3.2s by 10.0.0.7:443")
    "order # of '…' was refused after # s by #"
    >>> alike("cannot find Order with id=9f8e7d6c, try /var/spool/a.csv")
    'cannot find Order with id=#, try <path>'
    """
    text = line[:LOOKED_AT]
    if "<" in text:
        text = _without_objects(text)
    if "{" in text:
        text = _without_braces(text)
    if "'" in text or '"' in text or "`" in text or "“" in text or "«" in text:
        text = _QUOTES.sub(_unquoted, text)
    if ")=(" in text:
        text = _KEY_VALUES.sub("=#", text)
    return _settled(" ".join([w if w.isalpha() else _word(w) for w in text.split()]))


# -- What spans words

_OBJECT = re.compile(r"#?<(?!class ')(?:struct )?([A-Za-z_][\w.:$]{0,100})(?=[ :#(\[])[^<>]*>")


def _without_objects(text: str) -> str:
    """Keep of objects, as `<Order id=5>` or `#<Cart:0x1f @n=1>`, their class."""
    for _ in range(3):
        text, found = _OBJECT.subn(lambda each: f"<{each[1].rstrip(':')}>", text)
        if not found:
            break
    return text


_BRACES = re.compile(r"\{[^{}]*\}")
#: Stand for what comes back after that.
_KEPT = {4: " ", 5: "{", 6: "}"}
_DATA = re.compile(r"[:=,\"'\d\x01]")
#: What names the cause inside of an object, where a word says it.
_CAUSE = re.compile(
    r"[\"']?\b(?:error|code|reason|error_?[cC]ode|exception)[\"']?\s{0,3}(?::|=>?)\s{0,3}[\"']"
    r"([A-Za-z_][A-Za-z_.-]{0,60})[\"']"
)


def _without_braces(text: str) -> str:
    for _ in range(6):
        text, found = _BRACES.subn(_blob, text)
        if not found:
            break
    # An object that does not end within the line.
    if "{" in text:
        head, _, rest = text.partition("{")
        if _DATA.search(rest[:40]):
            text = head + _BLOB + _causes(rest)
    return text.replace(_BLOB, "{…}").translate(_KEPT)


def _blob(found: re.Match[str]) -> str:
    inner = found[0][1:-1]
    if inner and not _DATA.search(inner):
        return f"\x05{inner}\x06"
    return _BLOB + _causes(inner)


def _causes(inner: str) -> str:
    kept = "".join(f"\x04{code}" for code in _CAUSE.findall(inner)[:3])
    return kept + "".join(re.findall(r"\x04[A-Za-z_.-]+", inner)[:3])


_QUOTES = re.compile(
    r"\"(?:[^\"\\]|\\.)*\"|`[^`']*[`']|“[^”]*”|«[^»]*»|\u2018[^\u2019]*\u2019"
    r"|(?<![A-Za-z0-9_)\]])[bruf]?'(?:[^'\\]|\\.|'(?=[A-Za-z0-9_]))*'(?![A-Za-z0-9_])"
)
_NAME = re.compile(r"[A-Za-z_@][\w.:!?/@$-]{0,80}(?:\(\))?")
#: Words before a quoted name of the code, and behind one.
_BEFORE = re.compile(
    r"(?:methods?|attributes?|modules?|columns?|relations?|tables?|constants?|variables?|reading|"
    r"arguments?|functions?|property|constraints?|index|for key|import name|invoke|parameters?|"
    r"of type):? $"
)
_AFTER = re.compile(r" (?:object\b|is not defined|is not a function|takes \d)")
_TYPES = frozenset(
    [
        "int",
        "str",
        "float",
        "bool",
        "bytes",
        "list",
        "dict",
        "tuple",
        "set",
        "NoneType",
        "Decimal",
        "datetime",
    ]
)


def _unquoted(found: re.Match[str]) -> str:
    text, start, end = found.string, found.start(), found.end()
    name = found[0][1:-1]
    if _NAME.fullmatch(name) and (
        name in _TYPES
        or _BEFORE.search(text, max(0, start - 14), start)
        or _AFTER.match(text, end, end + 20)
    ):
        return f" {name} " if text[start - 1 : start].isalnum() else name
    return QUOTED


#: What Postgres says of the values of a key.
_KEY_VALUES = re.compile(r"(?<=\))=\([^)]*\)")

# -- Words

_DIGIT = re.compile(r"\d")
_FIELD = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z_]{2,20})=(?:\[[^\]]*\])?[^,;&)\]}'…]+")
#: Fields whose value is a name that varies.
_NAMES = frozenset(
    [
        "user",
        "username",
        "user_name",
        "login",
        "customer",
        "account",
        "tenant",
        "name",
        "host",
        "hostname",
        "server",
        "email",
        "file",
        "filename",
        "token",
        "session",
        "ip",
        "addr",
        "peeraddr",
        "address",
        "url",
        "uri",
        "path",
        "key",
        "id",
        "sku",
        "jid",
        "pid",
        "request_id",
        "trace_id",
        "owner",
        "topic",
        "bucket",
    ]
)


def _field(found: re.Match[str]) -> str:
    return f"{found[1]}=#" if found[1].lower() in _NAMES else found[0]


def _word(word: str) -> str:
    if len(word) > _WORD:
        return _long(word)
    if "=" in word:
        word = _FIELD.sub(_field, word)
    if not _DIGIT.search(word):
        return _plain(word)
    if word.isdigit():
        return VALUE
    return _valued(word)


def _long(word: str) -> str:
    """Keep of a word that is none what leads to it."""
    return VALUE if _DIGIT.search(word) or "/" in word or word.isalnum() else word[:_WORD]


@lru_cache(maxsize=8_192)
def _plain(word: str) -> str:
    """Make a word without digits alike: an address, a path, or itself."""
    return _placed(word)


_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\"'<>)\]},;]+[^\s\"'<>)\]},;.:]")
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_PATH = re.compile(
    r"(?<![\w.@#…])(?:~|\.{1,2})?/[\w.@+%~#…-][^\s:,;()\[\]<>|\"'?&=]*(?:\?[^\s)\]]*)?"
    r"|\b[A-Za-z]:\\[^\s\"'|<>]+"
    r"|(?<![\w.@/-])[\w.-]*[A-Za-z][\w.-]*/[\w./-]*\.(?:[a-z][a-z0-9]{0,4})(?![\w.])"
    r"|(?<![\w.@/-])(?=[\w./-]*[A-Za-z])[\w.-]+/[\w.-]+/[\w./-]+"
)
_HOST = re.compile(
    r"(?:\b[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*\.(?!(?:py|rb|js|mjs|cjs|ts|tsx|jsx|go|java|"
    r"kt|scala|c|cc|cpp|h|rs|ex|php|sql|lua|json|ya?ml|xml|csv|txt|html):)[A-Za-z]{2,20}"
    r"|\blocalhost):\d{2,5}\b"
)


_BASE64 = re.compile(
    r"(?<![\w/.])(?=[A-Za-z+/]*\d)(?=[A-Z0-9+/]*[a-z])(?=[a-z0-9+/]*[A-Z])[A-Za-z0-9+/]{24,}={0,2}(?![\w/.])"
)


def _placed(word: str) -> str:
    if "://" in word:
        word = _URL.sub(ADDRESS, word)
    if "@" in word:
        word = _EMAIL.sub(MAIL, word)
    if "/" in word or "\\" in word:
        word = _BASE64.sub(VALUE, word)
        word = _PATH.sub(PATH, word)
    return word


_UUID = re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
_IPV6 = re.compile(
    r"(?<![\w:.])(?=[0-9A-Fa-f:]{0,39}\d)(?:(?:[0-9A-Fa-f]{1,4}:){2,7}[0-9A-Fa-f]{1,4}(?!\w)"
    r"|(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6})?::(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6}(?!\w))?)"
)
#: What belongs together: letters and digits, and a number with its point.
_RUN = re.compile(r"\d+(?:\.\d+)+[^\W_]*|[^\W_]+")


def _valued(word: str) -> str:
    """Make a word with digits alike."""
    if "/" in word or "@" in word or "\\" in word:
        word = _placed(word)
    elif "+" in word:
        word = _BASE64.sub(VALUE, word)
    if "-" in word or len(word) >= 32:  # noqa: PLR2004 - a UUID without its dashes
        word = _UUID.sub(VALUE, word)
    if ":" in word:
        word = _HOST.sub(VALUE, word)
        if word.count(":") > 1:
            word = _IPV6.sub(VALUE, word)
    return _RUN.sub(_run, word)


_UNITS = (
    ("ns us µs μs ms s sec secs m min mins h hr hrs d", _TIME),
    ("B b kb KB Kb kB MB Mb mb GB gb TB tb KiB MiB GiB TiB Ki Mi Gi", _BYTES),
)
_UNIT = {unit: mark for units, mark in _UNITS for unit in units.split()}
#: Names that have digits in them, as people write them.
_KNOWN = frozenset(
    [
        "psycopg2",
        "psycopg3",
        "urllib3",
        "boto3",
        "mysql2",
        "http2",
        "h2",
        "oauth2",
        "utf8",
        "utf16",
        "sha1",
        "sha256",
        "sha512",
        "md5",
        "base64",
        "s3",
        "ec2",
        "x509",
        "ipv4",
        "ipv6",
        "k8s",
        "i18n",
        "log4j",
        "log4j2",
        "web3",
        "win32",
        "x86",
        "amd64",
        "arm64",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float32",
        "float64",
        "e2e",
        "p2p",
        "b2b",
        "pkcs12",
        "neo4j",
        "jinja2",
        "python3",
        "ruby3",
        "php8",
        "asn1",
        "iso8601",
        "rfc3339",
        "oauth1",
        "tls1",
        "utf8mb4",
        "latin1",
        "cp1252",
        "hl7",
        "mp3",
        "mp4",
        "h264",
    ]
)
_NAMED_NUMBER = re.compile(r"([A-Za-z]+)\d+(?:\.\d+)*")
_NUMBER_UNIT = re.compile(r"\d+(?:\.\d+)*([A-Za-zµμ]+)")
_SPAN = re.compile(r"(?:\d+(?:h|m|s|ms|d))+")
_HEX = re.compile(r"[0-9a-f]{6,}|[0-9A-F]{6,}")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_HARD = re.compile(r"[^aeiouyAEIOUY]{5}")
_SHAPE = re.compile(r"(?:[A-Z]?[a-z]+)+|[A-Z]+|[A-Z]{2,}[a-z]+")

#: Letters of a name that a number follows, at least: fewer are part of an id.
_SHORT = 3


def _run(found: re.Match[str]) -> str:
    run = found[0]
    if run.isalpha() or run.lower() in _KNOWN:
        return run
    if run.isdigit() or _HEX.fullmatch(run):
        return VALUE
    return _measured(run) or _numbered(run) or VALUE


def _measured(run: str) -> str:
    """Give the mark of a number with a unit; "" for anything else."""
    measured = _NUMBER_UNIT.fullmatch(run)
    if measured:
        return _UNIT.get(measured[1], VALUE)
    return _TIME if _SPAN.fullmatch(run) else ""


def _numbered(run: str) -> str:
    """Give the name in front of a number; "" where the letters are none."""
    named = _NAMED_NUMBER.fullmatch(run)
    return f"{named[1]}#" if named and _is_name(named[1], run) else ""


def _is_name(letters: str, run: str) -> bool:
    """Say whether letters are a name, as in `worker12`, or those of an id, as in `xkq81`."""
    if len(letters) < _SHORT or len(letters) * 4 < len(run):
        return False
    if not _SHAPE.fullmatch(letters):
        return False
    return bool(_VOWEL.search(letters)) and not _HARD.search(letters)


# -- The whole line once more; lines of one kind come here alike, so this is worked out once

_MONTHS = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|"
    r"Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_TIMES = (
    r"(?:ns|us|µs|ms|s|secs?|mins?|hrs?|h|"
    r"(?:(?:nano|micro|milli)?second|minute|hour|day|week|month|year)s?)"
)
_SIZES = r"(?:bytes?|[KMGT]i?[Bb]|kb|kB|mb|gb|(?:kilo|mega|giga|tera|kibi|mebi|gibi)bytes?)"
_LOOKUPS = r"ENOTFOUND|EAI_AGAIN|lookup|resolve|resolving|hostname|host|host:"
_LITERAL = r"(?:'…'|#|None|NULL|True|False|null|\{…\})"

#: What must be in a line for a rule to have a say, the rule, and what it puts there.
_AGAIN: tuple[tuple[str, re.Pattern[str], str], ...] = tuple(
    (needs, re.compile(pattern), by)
    for needs, pattern, by in (
        # Hex that happens to have no digit.
        ("", r"(?<![A-Za-z])[a-f]{8,}(?![A-Za-z])", "#"),
        # Parts of an id without a digit: random letters have no vowels.
        ("-", r"(?<=-)[bcdfghjklmnpqrstvwxz]{7,10}(?=-)", "#"),
        ("#-", r"(?<=#-)[bcdfghjklmnpqrstvwxz]{4,}(?![\w-])", "#"),
        ("[#]:#", r"\[#\](?=:#)", "#"),
        ("##", r"#{2,}", "#"),
        # A host that was looked up.
        (".", rf"\b({_LOOKUPS}) (?:[\w#-]+\.)+[A-Za-z]{{2,20}}\b", r"\1 #"),
        # A file beside what the system says of it, and what a form was given.
        ("[Errno #]", r"(\[Errno #\] [^:']{1,100}): '…'(?: -> '…')?$", r"\1"),
        (", input_value=", r", input_value=.*", ""),
        # Dates: words beside numbers, and the zone behind.
        ("#", rf"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? (?=#|{_MONTHS}\b)", ""),
        ("#", rf"(?<=#)[-/ ]{_MONTHS}[-/ ](?=#)", " "),
        ("#", rf"\b{_MONTHS}\.? (?=#)", ""),
        ("#T#", r"(?<=#)T(?=#)", ":"),
        ("#", r"(?<=#) ?(?:UTC|GMT|Z|AM|PM|am|pm|CES?T|E[SD]T|P[SD]T)\b", ""),
        # Units that stand apart.
        ("# ", rf"# {_TIMES}\b", _TIME),
        ("# ", rf"# {_SIZES}\b", _BYTES),
        # Values in a row are one.
        ("#", r"(?<![\w#])[-+$€£¥](?=#)", ""),
        ("#", r"(?<=#)(?: ?%|st\b|nd\b|rd\b|th\b)", ""),
        ("#", r"#(?:[\x02\x03]?(?:[-.,:/+T_]{0,3}| and |, | or |, and | - )#)+(?=[\x02\x03])", "#"),
        ("#\x02", r"#\x02(?:[-.,:/+]{0,2} ?#[\x02\x03]?)+", _TIME),
        ("#", r"#(?:(?:[-.,:/+T_~]{1,3}|,? and |, | or | - | )#)+", "#"),
        ("'…'", r"'…'(?:(?:, |,| and | or |, and )'…')+", "'…'"),
        ("<path>", r"<path>(?:(?:, |,| and )<path>)+", "<path>"),
        # Lists of nothing but values.
        ("[", rf"\[(?!#\])(?:{_LITERAL}|true|false|[\x02\x03]|, ?)+\]", "[…]"),
        ("[]", r"\[\]", "[…]"),
        ("(", rf"\((?:{_LITERAL}, ?)+(?:{_LITERAL})?\)", "(…)"),
        ("…", r"(\{…\}|\[…\]|\(…\))(?:, ?\1)+", r"\1"),
    )
)
#: A noun that is counted, with a word before it, and the verb behind it.
_NOUNS = re.compile(r"# [A-Za-z][A-Za-z()-]*(?: [A-Za-z][A-Za-z()-]*)?")
_PLURAL = re.compile(
    r"(?!(?:was|has|is|as|this|does|its)\b)([A-Za-z-]{2,}?)"
    r"(?:\(e?s\)|(?<=ch|sh|ss|zz)es|(?<=x)es|ies|(?<![sui])s)(?![A-Za-z(])"
)
_VERB = re.compile(r"(# (?:[A-Za-z()-]+ ){0,3}?)(were|are|have)\b")
_ONE = {"were": "was", "are": "is", "have": "has"}


def _counted(found: re.Match[str]) -> str:
    return _PLURAL.sub(_single, found[0])


def _single(found: re.Match[str]) -> str:
    return f"{found[1]}y" if found[0].endswith("ies") else found[1]


_LETTERS = re.compile(r"(?<![A-Za-z])[A-Za-z]{12,}(?![A-Za-z])")
_FLIP = re.compile(r"(?<=[a-z])[A-Z]|(?<=[A-Z])[a-z]")
_FOUR = re.compile(r"[^aeiouyAEIOUY]{4}")


def _lot(found: re.Match[str]) -> str:
    """Make letters drawn by lot a value: their case changes as no name of a class does."""
    letters = found[0]
    flips = sum(1 for _ in _FLIP.finditer(letters))
    return VALUE if flips * 3 >= len(letters) and _FOUR.search(letters) else letters


@lru_cache(maxsize=8_192)
def _settled(text: str) -> str:
    text = _LETTERS.sub(_lot, text)
    for needs, pattern, by in _AGAIN:
        if needs in text:
            text = pattern.sub(by, text)
    if VALUE in text:
        text = text.replace(_TIME, "# s").replace(_BYTES, "# B")
        text = _NOUNS.sub(_counted, text)
        text = _VERB.sub(lambda each: each[1] + _ONE[each[2]], text)
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"
