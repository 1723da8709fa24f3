# SPDX-License-Identifier: BSD-2-Clause
# For the Makefile of an EPICS application: takes rtems-ioc's pool status and heap tracker into its RTEMS images.
#
#     TOP = ..
#     include $(TOP)/configure/CONFIG
#     RTEMS_IOC = /where/rtems-ioc/is/installed        the PREFIX of `waf install`
#     RTEMS_IOC_BSP = powerpc/beatnik                  arch/bsp; unset: that of the EPICS target
#     include $(RTEMS_IOC)/share/rtems-ioc/epics/rtems_ioc.mk
#     ...
#     include $(TOP)/configure/RULES
#
# Optional, for the iocsh commands, the device support and the records (each line for itself):
#     RTEMS_IOC_TCPECHO = YES                          before the include: the command tcpecho, too
#     myioc_SRCS += $(RTEMS_IOC_SRCS)
#     myioc_DBD += rtemsIoc.dbd
#     dbLoadRecords("rtemsIocPool.db", "IOCNAME=...")  in st.cmd, after iocStats's own databases
#
# RTEMS_IOC_HOOKS = NO leaves the heap unhooked: the free list is then searched for each answer.
# Targets other than RTEMS build as before; there the commands do not exist and the records are invalid.

RTEMS_IOC_EPICS = $(RTEMS_IOC)/share/rtems-ioc/epics
RTEMS_IOC_SRCS = rtemsIocShell.c devRtemsIocPool.c
RTEMS_IOC_HOOKS ?= YES

SRC_DIRS += $(RTEMS_IOC_EPICS)
USR_DBDFLAGS += -I$(RTEMS_IOC_EPICS)

ifeq ($(OS_CLASS),RTEMS)

RTEMS_IOC_BSP ?= $(RTEMS_TARGET_CPU)/$(RTEMS_BSP)
rtems_ioc_arch = $(firstword $(subst /, ,$(RTEMS_IOC_BSP)))
rtems_ioc_bsp = $(lastword $(subst /, ,$(RTEMS_IOC_BSP)))
RTEMS_IOC_LIB = $(RTEMS_IOC)/$(rtems_ioc_arch)-rtems$(RTEMS_VERSION)/$(rtems_ioc_bsp)/lib

ifeq ($(RTEMS_IOC_TCPECHO),YES)
RTEMS_IOC_ARCHIVE = $(RTEMS_IOC_LIB)/librtems_ioc.a
USR_CPPFLAGS += -DRTEMS_IOC_TCPECHO
# Most of this archive (the Channel Access server) is not called and has to go.
RTEMS_IOC_LDFLAGS += -Wl,--gc-sections
else
RTEMS_IOC_ARCHIVE = $(RTEMS_IOC_LIB)/librtems_ioc_pool.a
endif

ifeq ($(wildcard $(RTEMS_IOC_ARCHIVE)),)
$(error rtems-ioc: $(RTEMS_IOC_ARCHIVE) is missing: RTEMS_IOC ($(RTEMS_IOC)) is to be the prefix of `waf install`, \
RTEMS_IOC_BSP ($(RTEMS_IOC_BSP)) one of the BSPs it was configured for)
endif

# The archive is met before libCom, and -u makes the linker take it there although nobody has asked yet: so the order of
# the application's libraries does not matter. The second spelling is by what the finished image is recognised.
RTEMS_IOC_LDFLAGS += -Wl,-u,osiSufficentSpaceInPool -Wl,-u,osiSufficientSpaceInPool
ifeq ($(RTEMS_IOC_HOOKS),YES)
RTEMS_IOC_LDFLAGS += -Wl,-u,rtems_ioc_pool_hooks_present
RTEMS_IOC_LDFLAGS += -Wl,--wrap=_Heap_Allocate_aligned_with_boundary -Wl,--wrap=_Heap_Free
RTEMS_IOC_LDFLAGS += -Wl,--wrap=_Heap_Resize_block -Wl,--wrap=_Heap_Greedy_allocate -Wl,--wrap=malloc_free_space
ifneq ($(filter 4.7% 4.8% 4.9%,$(RTEMS_VERSION)),)
RTEMS_IOC_LDFLAGS += -Wl,--wrap=_Heap_Allocate -Wl,--wrap=_Heap_Allocate_aligned
endif
else
RTEMS_IOC_CHECK_OPTIONS += --no-hooks
endif
RTEMS_IOC_LDFLAGS += $(RTEMS_IOC_ARCHIVE)

# OP_SYS_LDFLAGS and no other: it is not used for the modules of a generic image (ld -r), which must not hold the archive.
OP_SYS_LDFLAGS += $(RTEMS_IOC_LDFLAGS)
# A new archive makes a new image.
PROD_DEPLIBS += $(RTEMS_IOC_ARCHIVE)
USR_INCLUDES += -I$(RTEMS_IOC_LIB)/include

# An image that does not hold what was asked for is no image: the link fails, and no file remains.
RTEMS_IOC_NM ?= $(RTEMS_TOOLS)/bin/$(or $(NM_FOR_TARGET),$(GNU_TARGET)$(RTEMS_VERSION)-nm)
RTEMS_IOC_CHECK = NM='$(RTEMS_IOC_NM)' sh $(RTEMS_IOC_EPICS)/check-image $(RTEMS_IOC_CHECK_OPTIONS) $@ || { $(RM) $@; exit 1; }
LINK.cpp += && $(RTEMS_IOC_CHECK)
LINK.mod += && $(RTEMS_IOC_CHECK)

endif
