# SPDX-License-Identifier: BSD-2-Clause
# Run from the image at its start. pool.cmd loads the memory records when rtems-ioc is in the image.
epicsEnvSet IOCSH_PS1 "example> "
dbLoadDatabase "/O.Common/example.dbd"
example_registerRecordDeviceDriver pdbbase
dbLoadRecords "/example.db", "P=example:"
< /pool.cmd
iocInit
