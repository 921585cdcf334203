"""Every setting of the console, once: name, default, environment variable, help and check.

Flags and environment variables derive from this table; `docs/reference/settings.md` repeats it, and
a test compares the two. Only `Settings.from_env` and `state_folder` read the environment.
"""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from qless_core.connection import pool_of
from qless_core.errors import BadArgument
from qless_core.masking import hushed, masked
from qless_web import checks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "SETTINGS",
    "Setting",
    "SettingError",
    "Settings",
    "state_folder",
]

T = TypeVar("T")

#: Every environment variable of ours begins with this.
ENV_PREFIX = "QLESS_WEB_"


class SettingError(ValueError):
    """Raised when a setting is not known or its value makes no sense; the message is for people."""


def state_folder() -> Path:
    """Return where the console keeps its pid, its log and its data when it is told no place."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "qless-web"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: what it is called everywhere, what it means, what it accepts."""

    name: str
    default: object
    #: Environment variables that set it, the one that wins first.
    env: tuple[str, ...]
    help: str
    check: Callable[[object], object]
    #: Whether its value is kept out of everything that is printed.
    secret: bool
    #: A letter for the short flag, or "".
    letter: str

    @property
    def flag(self) -> str:
        """The long command line flag."""
        return "--" + self.name.replace("_", "-")

    @property
    def is_switch(self) -> bool:
        """Whether it is yes or no, so that its flag takes no value."""
        return isinstance(self.default, bool)


def _setting(
    default: T,
    check: Callable[[object], T],
    text: str,
    *,
    env: tuple[str, ...] = (),
    secret: bool = False,
    letter: str = "",
) -> T:
    notes = {"check": check, "help": text, "env": env, "secret": secret, "letter": letter}
    return field(default=default, metadata=notes)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Settings:
    """What one console was told, checked and frozen; make it with `build` or `from_env`."""

    redis_url: str = _setting(
        "redis://localhost:6379/0",
        checks.redis_url,
        "where the jobs are: redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://",
        env=("REDIS_URL",),
        secret=True,
    )
    read_url: str = _setting(
        "",
        checks.read_url,
        "a replica of that, for pages to read at while it keeps up",
        secret=True,
    )
    servers: tuple[tuple[str, str], ...] = _setting(
        (),
        checks.servers,
        "several servers in one console: NAME=URL, with blanks between; in place of redis_url",
        secret=True,
    )
    shards: bool = _setting(
        default=False,
        check=checks.switch,
        text="show the servers as shards of one queue: pages of all, and one sign-in",
    )
    namespace: str = _setting(
        "ql:", checks.namespace, "what the names of all Redis keys begin with"
    )
    host: str = _setting("127.0.0.1", checks.filled, "address to listen on")
    port: int = _setting(
        5678,
        checks.whole(0, 65535),
        "port to listen on; 0 takes a free one and prints it",
        letter="p",
    )
    prefix: str = _setting(
        "", checks.prefix, "path under which the console is served, as /ops/qless"
    )
    threads: int = _setting(
        64,
        checks.whole(2, 4096),
        "requests served at once; each open page with live updates takes one",
    )
    foreground: bool = _setting(
        default=False, check=checks.switch, text="stay in the foreground and log there", letter="F"
    )
    pid_file: Path | None = _setting(  # noqa: RUF009 - a field
        None, checks.place, "file that names the running process; by default one for each port"
    )
    log_file: Path | None = _setting(  # noqa: RUF009 - a field
        None, checks.place, "file the daemon logs to; by default one for each port"
    )
    access_log: str = _setting(
        "", checks.text, "file for one line a request, or - for standard output"
    )
    embedded: Path | None = _setting(  # noqa: RUF009 - a field
        None,
        checks.place_or(lambda: state_folder() / "data"),
        "run a Redis server of its own that keeps its data in this folder (yes: the usual one)",
    )
    demo: bool = _setting(
        default=False,
        check=checks.switch,
        text="show a made-up shop on a temporary Redis of its own",
    )
    read_only: bool = _setting(
        default=False, check=checks.switch, text="show everything, change nothing"
    )
    allow_anonymous: bool = _setting(
        default=False,
        check=checks.switch,
        text="listen on other addresses than this machine's own, with no sign-in",
    )
    trusted_hosts: tuple[str, ...] = _setting(
        (), checks.words, "host names to answer to, with commas between; none: any"
    )
    trusted_origins: tuple[str, ...] = _setting(
        (), checks.origins, "origins other than its own whose pages may send changes"
    )
    writes_per_minute: int = _setting(
        3_000,
        checks.whole(0, 1_000_000),
        "changes that one address may ask for in a minute; 0: any",
    )
    proxy_hops: int = _setting(
        0, checks.whole(0, 10), "proxies in front whose X-Forwarded headers are believed"
    )
    environment: str = _setting("", checks.text, "label in the header, as staging")
    environment_colour: str = _setting(
        "grey", checks.colour, f"colour of that label: {', '.join(checks.COLOURS)}"
    )
    users_file: Path | None = _setting(  # noqa: RUF009 - a field
        None,
        checks.place_or(lambda: state_folder() / "users"),
        "file with who may sign in (yes: the usual one, of qless-web user)",
    )
    secret_keys: tuple[str, ...] = _setting(
        (),
        checks.words,
        "keys that sign sessions, the first for new ones; none: one that is kept in a file",
        secret=True,
    )
    session_idle_s: float = _setting(
        43_200.0,
        checks.seconds(60, 2_592_000),
        "seconds after which somebody who does nothing is out",
    )
    session_max_s: float = _setting(
        604_800.0, checks.seconds(60, 31_536_000), "seconds after which one has to sign in again"
    )
    proxy_user_header: str = _setting(
        "", checks.header, "header in which a proxy says whom it has signed in, as X-Forwarded-User"
    )
    trusted_proxies: tuple[checks.Network, ...] = _setting(
        (), checks.networks, "addresses of the proxies whose word on that counts, as 10.0.0.0/8"
    )
    oidc_issuer: str = _setting(
        "", checks.issuer, "OpenID provider that signs people in, as https://id.example.com/"
    )
    oidc_client_id: str = _setting("", checks.text, "what the provider calls this console")
    oidc_client_secret: str = _setting(
        "", checks.text, "the secret that goes with it; none: PKCE alone", secret=True
    )
    oidc_scopes: tuple[str, ...] = _setting(
        ("profile", "email"), checks.words, "what is asked of the provider beside openid"
    )
    oidc_name_claim: str = _setting(
        "preferred_username", checks.filled, "claim that says what somebody is called"
    )
    oidc_role_claim: str = _setting(
        "", checks.text, "claim that says what somebody may do, as groups or realm_access.roles"
    )
    oidc_roles: tuple[tuple[str, str], ...] = _setting(
        (), checks.provider_roles, "roles by values of that claim: `ops=operator,platform=admin`"
    )
    default_role: str = _setting(
        "viewer",
        checks.role,
        "role of those signed in elsewhere that users_file does not name: "
        f"{', '.join(checks.ROLES)}",
    )
    api_token_file: Path | None = _setting(  # noqa: RUF009 - a field
        None, checks.place, "file with who may use the API; without it the rules of the pages count"
    )
    alerts: bool = _setting(
        default=True,
        check=checks.switch,
        text="look in this process whether the rules of alerts hold",
    )
    alerts_file: Path | None = _setting(  # noqa: RUF009 - a field
        None, checks.place, "file with rules of alerts, in TOML; others are made on the page"
    )
    alerts_every_s: float = _setting(
        15.0, checks.seconds(1, 3600), "seconds between two looks whether the rules of alerts hold"
    )
    alerts_private: bool = _setting(
        default=False,
        check=checks.switch,
        text="let alerts be sent to this machine and to networks of one's own",
    )
    metrics: bool = _setting(
        default=True, check=checks.switch, text="answer Prometheus at /metrics"
    )
    count_minutes: bool = _setting(
        default=True, check=checks.switch, text="note once a minute what was done, for the charts"
    )
    run_operations: bool = _setting(
        default=True, check=checks.switch, text="do operations on many jobs in this process"
    )
    trash_hours: int = _setting(
        24, checks.whole(1, 24 * 365), "hours for which cancelled jobs can come back"
    )
    trash_size: int = _setting(
        256,
        checks.whole(1, 1_000_000),
        "megabytes of Redis that they may take; the oldest go first",
    )
    audit_days: int = _setting(90, checks.whole(1, 36_500), "days for which the audit is kept")
    audit_size: int = _setting(
        100_000, checks.whole(100, 10_000_000), "records that the audit keeps at most"
    )
    index: bool = _setting(
        default=True,
        check=checks.switch,
        text="keep an index of all jobs, for searches; else they scan",
    )
    index_rate: int = _setting(
        4000, checks.whole(0, 1_000_000), "jobs a second that are read for it at most; 0: no bound"
    )
    runbooks: tuple[tuple[str, str], ...] = _setting(
        (),
        checks.runbooks,
        "pages that tell what to do: `mail-*=https://…`, more with commas between",
    )
    state_dir: Path | None = _setting(  # noqa: RUF009 - a field
        None,
        checks.place,
        "folder for what the console keeps on this host; by default the usual one",
    )
    live_max_streams: int = _setting(
        48,
        checks.whole(0, 4000),
        "open live pages served at once; others ask again from time to time",
    )
    live_tick_s: float = _setting(
        1.0, checks.seconds(0.1, 60), "seconds between two looks at what has changed"
    )

    def __post_init__(self) -> None:
        for setting in SETTINGS:
            given = getattr(self, setting.name)
            object.__setattr__(self, setting.name, _checked(setting, given, setting.name))
        try:
            pool_of(self.redis_url, self.namespace)  # a cluster needs another namespace
            if self.read_url:
                pool_of(self.read_url, self.namespace)
        except BadArgument as error:
            raise SettingError(str(error)) from None
        self._refuse_no_replica()
        if self.shards and not self.servers:
            message = "shards needs servers: name each of them with its address"
            raise SettingError(message)
        if self.proxy_user_header and not self.trusted_proxies:
            message = "proxy_user_header needs trusted_proxies: anybody can send a header"
            raise SettingError(message)
        self._refuse_half_a_provider()

    def _refuse_no_replica(self) -> None:
        if not self.read_url:
            return
        if self.servers:
            message = "read_url is for one server: leave it out where servers names several"
            raise SettingError(message)
        if pool_of(self.redis_url, self.namespace).address.kind == "cluster":
            message = "read_url is for one server and its replicas, not for a cluster"
            raise SettingError(message)

    def _refuse_half_a_provider(self) -> None:
        pairs = (
            ("oidc_issuer", "oidc_client_id"),
            ("oidc_client_id", "oidc_issuer"),
            ("oidc_client_secret", "oidc_issuer"),
            ("oidc_role_claim", "oidc_issuer"),
            ("oidc_roles", "oidc_role_claim"),
        )
        for one, other in pairs:
            if getattr(self, one) and not getattr(self, other):
                message = f"{one} needs {other}"
                raise SettingError(message)

    @property
    def has_sign_in(self) -> bool:
        """Whether one has to be somebody to come in."""
        return bool(self.users_file or self.proxy_user_header or self.oidc_issuer)

    def __repr__(self) -> str:
        shown = (
            f"{setting.name}={_shown(setting, getattr(self, setting.name))!r}"
            for setting in SETTINGS
            if getattr(self, setting.name) != setting.default
        )
        return f"Settings({', '.join(shown)})"

    def values(self) -> dict[str, Any]:
        """Return every setting by name, as `build` takes them."""
        return {setting.name: getattr(self, setting.name) for setting in SETTINGS}

    @classmethod
    def build(cls, **given: object) -> Self:
        """Make settings from keywords; values may be text.

        Raises:
            SettingError: a name is not known (the nearest is named) or a value makes no sense.

        """
        for name in given:
            _refuse_unknown(name, [setting.name for setting in SETTINGS], f"setting {name}")
        return cls(**cast("dict[str, Any]", given))

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, **given: object) -> Self:
        """Make settings from the environment; what is given by keyword wins over it.

        Raises:
            SettingError: as `build`; or a variable is nearly, but not quite, one of ours.

        """
        variables = os.environ if environ is None else environ
        _refuse_misspelt(variables)
        found = {}
        for setting in SETTINGS:
            name = next((name for name in setting.env if variables.get(name)), None)
            if name and setting.name not in given and not _is_service_link(variables[name]):
                found[setting.name] = _checked(setting, variables[name], name)
        return cls.build(**found, **given)


def _table() -> tuple[Setting, ...]:
    return tuple(
        Setting(
            name=each.name,
            default=each.default,
            env=(ENV_PREFIX + each.name.upper(), *each.metadata["env"]),
            help=each.metadata["help"],
            check=each.metadata["check"],
            secret=each.metadata["secret"],
            letter=each.metadata["letter"],
        )
        for each in fields(Settings)
    )


#: The table, in the order of the reference.
SETTINGS: tuple[Setting, ...] = _table()


def _checked(setting: Setting, value: object, called: str) -> object:
    try:
        return setting.check(value)
    except BadArgument as error:
        raise SettingError(str(error)) from None
    except (ValueError, TypeError) as error:
        message = f"{called} {error}, not {_shown(setting, value)!r}"
        raise SettingError(message) from None


def _shown(setting: Setting, value: object) -> object:
    if setting.secret:
        return masked(str(value))
    return hushed(value) if isinstance(value, str) else value


def _refuse_unknown(name: str, known: list[str], called: str) -> None:
    if name in known:
        return
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0)
    message = f"there is no {called}; the nearest is {nearest[0]}"
    raise SettingError(message)


def _refuse_misspelt(variables: Mapping[str, str]) -> None:
    """Refuse QLESS_WEB_READONLY rather than serve a console that can be written to."""
    known = [name for setting in SETTINGS for name in setting.env]
    for name in variables:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.9)
        if name.startswith(ENV_PREFIX) and name not in known and near:
            message = f"{name} is not a variable of qless-web; did you mean {near[0]}?"
            raise SettingError(message)


def _is_service_link(value: str) -> bool:
    """Tell what Kubernetes puts in QLESS_WEB_PORT for a service named qless-web."""
    return value.startswith("tcp://")
