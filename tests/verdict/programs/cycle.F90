! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the EventSpace authors
! cycle.F90 - each rank receives from the next one before it sends: verdict_fortran
! CASE, where CASE is "fortran_cycle" or its right twin "fortran_exchange". See cases.h
! for the signs.
program cycle
    use mpi_f08
    implicit none
    character(len=64) :: name
    character(len=4096) :: signs
    integer :: rank, ranks, value, length, unit, status
    logical :: may_go

    call get_command_argument(1, name)
    call get_environment_variable('VERDICT_SIGNS', signs, length, status)
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    value = rank
    if (status == 0) then
        open(newunit=unit, file=trim(signs)//'/reached.'//achar(iachar('0') + rank))
        close(unit)
    end if
    if (name == 'fortran_cycle') then
        call MPI_Recv(value, 1, MPI_INTEGER, modulo(rank + 1, ranks), 1, MPI_COMM_WORLD, &
            MPI_STATUS_IGNORE)
        call MPI_Send(value, 1, MPI_INTEGER, modulo(rank - 1, ranks), 1, MPI_COMM_WORLD)
    else
        may_go = .false.
        do while (.not. may_go)
            call MPI_Sendrecv_replace(value, 1, MPI_INTEGER, modulo(rank + 1, ranks), 1, &
                modulo(rank - 1, ranks), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
            may_go = status /= 0
            if (rank == 0 .and. status == 0) inquire(file=trim(signs)//'/go', exist=may_go)
            call MPI_Bcast(may_go, 1, MPI_LOGICAL, 0, MPI_COMM_WORLD)
        end do
    end if
    call MPI_Finalize()
end program cycle
