# SPDX-License-Identifier: BSD-3-Clause
"""scripts/check-calls finds descriptors that are not moved out of the program's way, and settings
that a privileged program would take from its caller."""

from __future__ import annotations

import pytest
from support.scripts import load_script


@pytest.fixture(scope="module")
def faults():
    return load_script("check-calls").faults


@pytest.mark.parametrize(
    "code",
    [
        "const int fd = ::open(path, O_RDONLY);",
        "fd = ::openat(place, name, O_WRONLY);",
        'fd = memfd_create("oriel", 0);',
        "socket_ = ::socket(family, SOCK_STREAM, 0);",
        "const int peer = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);",
        "::pipe2(ends, O_CLOEXEC);",
        "::syscall(SYS_userfaultfd, O_CLOEXEC);",
        "::ioctl(device, USERFAULTFD_IOC_NEW, 0);",
        'std::fopen(path, "w");',
        "std::ofstream file(path);",
        'std::getenv("HOME");',
        "own_descriptor(::open(a, 0)); ::open(b, 0);",
    ],
)
def test_it_finds(faults, code):
    assert len(faults("transport/a.cpp", f"int a;\n{code}\n")) == 1
    assert faults("transport/a.cpp", f"int a;\n{code}\n")[0].startswith("src/transport/a.cpp:2: ")


@pytest.mark.parametrize(
    "code",
    [
        "own_descriptor(::open(path, O_RDONLY));",
        "own_descriptor(\n    ::socket(family, SOCK_STREAM, 0));",
        "own_descriptor(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC)));",
        "::syscall(SYS_membarrier, command, 0, 0);",
        "Network::open(error); file.open(path); window->open(); bool open(int a);",
        'std::fopen(path, "re"); std::ifstream file(path);',
        "#include <fstream>",
        '::secure_getenv("HOME");',
        "// ::open(path) would do",
        "Sockets sockets(3); is_socket(fd);",
    ],
)
def test_it_passes(faults, code):
    assert not faults("transport/a.cpp", code)


@pytest.mark.parametrize(
    "code", ["own_descriptor(::open(path, 0));", "std::ifstream file(path);", 'fopen(path, "re");']
)
def test_the_core_opens_no_file(faults, code):
    assert not faults("engine/a.cpp", code)
    assert "the core opens no file" in faults("core/base/a.cpp", code)[0]


def test_descriptors_are_opened_where_they_are_moved(faults):
    assert not faults("transport/shm/descriptors.cpp", "::pipe2(ends, O_CLOEXEC);")
