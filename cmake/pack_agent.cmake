# Packs a program for pods: cmake -DPROGRAM=FILE -DTARGET=FILE.gz -DGZIP=gzip -P pack_agent.cmake   (takes PROGRAM away)
#
# One member of gzip, the same bytes for the same program, whose own name is the program's SHA256-SIZE: who starts pods need
# not unpack it to know them.
file(SHA256 ${PROGRAM} digest)
file(SIZE ${PROGRAM} size)
get_filename_component(folder ${PROGRAM} DIRECTORY)
set(named ${folder}/${digest}-${size})
file(RENAME ${PROGRAM} ${named})
# With a name gzip writes the time too, and 0 is none that it takes.
execute_process(COMMAND touch -d @1 ${named} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${GZIP} -9 -N -f ${named} COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${named}.gz ${TARGET})
