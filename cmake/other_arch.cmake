# Toolchain of tests/other_arch.sh: clang and lld for IDM_OTHER (a processor by clang's name), with the Debian packages
# unpacked in IDM_SYSROOT. Compiled programs are run by qemu.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES IDM_OTHER IDM_SYSROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${IDM_OTHER})
set(CMAKE_LIBRARY_ARCHITECTURE ${IDM_OTHER}-linux-gnu)
set(CMAKE_SYSROOT ${IDM_SYSROOT})
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET ${IDM_OTHER}-linux-gnu)
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT -fuse-ld=lld)
endforeach()

# Programs are those of this machine; libraries, headers and packages are those of the sysroot.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} ${IDM_SYSROOT}/usr/lib/${IDM_OTHER}-linux-gnu/pkgconfig:${IDM_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${IDM_SYSROOT})

# The environment variable QEMU_CPU selects the processor.
find_program(IDM_QEMU qemu-${IDM_OTHER} REQUIRED)
set(CMAKE_CROSSCOMPILING_EMULATOR ${IDM_QEMU} -L ${IDM_SYSROOT})
