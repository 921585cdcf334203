"""The console behind proxies with TLS and a prefix, as the page documents them.

nginx and Caddy themselves, where they are installed. Traefik is in no package of the system:
a small proxy of our own passes on what Traefik's documentation says that Traefik does.
"""

from __future__ import annotations

import re
import shlex
import shutil

import pytest
from journey import journey

from tests.support.certificates import certificates
from tests.support.ports import free_port
from tests.support.processes import Command

NGINX = """
daemon off; master_process off; pid nginx.pid; error_log stderr warn;
events {{}}
http {{
    access_log off;
    client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c; uwsgi_temp_path d;
    scgi_temp_path e;
    {server}
}}
"""
CADDY = "{\n    admin off\n    auto_https disable_redirects\n}\n"


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    return certificates(tmp_path_factory.mktemp("signed"))


@pytest.fixture
def console(tmp_path, server, redis):  # noqa: ARG001 - `redis` empties the server
    """Run the command as it is documented, with more flags if need be."""
    home = tmp_path / "home"
    home.mkdir()
    command = Command(home)
    yield lambda *args: command.start("--redis-url", server.url, *args).port
    command.end()


@pytest.fixture
def nginx(sections, programs, sites, signed, tmp_path):
    def start(to, cut="/"):
        port = free_port()
        (server,) = sections["nginx"].blocks("nginx")
        server = (
            server.replace("listen 443", f"listen 127.0.0.1:{port}")
            .replace("/etc/ssl/ops.pem", str(signed.certificate))
            .replace("/etc/ssl/ops.key", str(signed.key))
            .replace("http://127.0.0.1:5678/", f"http://127.0.0.1:{to}{cut}")
        )
        if not cut:
            server = server.replace("Prefix /ops/qless", 'Prefix ""')
        (tmp_path / "nginx.conf").write_text(NGINX.format(server=server))
        program = shutil.which("nginx") or "nginx"
        programs.start(port, program, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"))
        return sites(f"https://127.0.0.1:{port}/ops/qless", signed.authority)

    return start


@pytest.fixture
def caddy(sections, programs, sites, signed, tmp_path):
    def start(to):
        port = free_port()
        (site,) = sections["Caddy"].blocks("caddyfile")
        head = f"https://127.0.0.1:{port} {{"
        site = site.replace(
            "https://ops.example.com {", f"{head}\n    tls {signed.certificate} {signed.key}"
        ).replace("127.0.0.1:5678", f"127.0.0.1:{to}")
        (tmp_path / "Caddyfile").write_text(CADDY + site)
        command = ("caddy", "run", "--config", "Caddyfile", "--adapter", "caddyfile")
        home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
        programs.start(port, *command, **home, XDG_CONFIG_HOME=str(tmp_path / "config"))
        return sites(f"https://127.0.0.1:{port}/ops/qless", signed.authority)

    return start


@pytest.fixture
def traefik(programs, sites, signed):
    def start(to):
        port = free_port()
        files = (str(signed.certificate), str(signed.key))
        command = ("-m", "tests.support.proxy", str(port), *files, "/ops/qless", str(to))
        programs.python(port, *command)
        return sites(f"https://127.0.0.1:{port}/ops/qless", signed.authority)

    return start


def needs(program):
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


PROXIES = [
    pytest.param("nginx", marks=needs("nginx")),
    pytest.param("caddy", marks=needs("caddy")),
    "traefik",
]


@pytest.fixture(params=PROXIES)
def proxied(request, sections, console):
    """Start the command and a proxy before it, both as the page says."""
    program, *args = shlex.split(sections["Behind a proxy"].command)
    assert program == "qless-web"
    return request.getfixturevalue(request.param)(console(*args))


def test_behind_a_proxy_that_cuts_the_prefix_off(proxied, live):
    journey(proxied, live)


FORGED = {
    "X_Forwarded_Host": "evil.example",
    "X_Forwarded_Prefix": "/evil",
    "X_Forwarded_Port": "666",
    "X_Forwarded_Proto": "http",
    "X_Forwarded_For": "6.6.6.6",
    "Script_Name": "/evil",
}


def test_what_a_client_says_of_where_it_is_counts_for_nothing(proxied, live):
    live.queues["mail"].put("Letter", {})
    here = proxied.mount

    page = proxied.get(f"{here}/queues", **FORGED)
    changed = proxied.post(f"{here}/queues/mail/pause", Origin="http://evil.example:666", **FORGED)
    done = proxied.post(f"{here}/queues/mail/pause", Origin=proxied.origin, **FORGED)

    assert page.status_code == 200
    addresses = set(re.findall(r'(?:href|src|action)="(/[^"]*)"', page.text))
    assert len(addresses) > 10
    assert {each for each in addresses if not each.startswith(f"{here}/")} == set()
    assert "evil" not in page.text
    assert changed.status_code == 403
    assert done.status_code == 303
    assert "Secure" in done.headers["Set-Cookie"]


@needs("nginx")
def test_behind_a_proxy_that_passes_the_path_on(console, nginx, live):
    site = nginx(console("--proxy-hops", "1", "--prefix", "/ops/qless"), cut="")

    journey(site, live)


@needs("nginx")
def test_without_trust_the_headers_of_a_proxy_count_for_nothing(console, nginx, live):
    """The prefix is then not known, and a change over TLS seems to come from elsewhere."""
    site = nginx(console())
    live.queues["mail"].put("Letter", {})

    assert 'href="/ops/qless/' not in site.get("/ops/qless/queues").text
    done = site.post("/ops/qless/queues/mail/pause", Origin=site.origin)
    assert done.status_code == 403


@needs("nginx")
def test_behind_a_proxy_before_an_asgi_host(write, programs, nginx, live):
    """A proxy on this machine is believed by uvicorn itself, but for the prefix."""
    write("In FastAPI, Starlette, or any ASGI application", proxy_hops=1)
    main = programs.folder / "main.py"
    main.write_text(main.read_text().replace('app.mount("/ops/qless"', 'app.mount("/"'))
    port = free_port()
    programs.python(port, "-m", "uvicorn", "--port", str(port), "main:app")

    journey(nginx(port), live)
