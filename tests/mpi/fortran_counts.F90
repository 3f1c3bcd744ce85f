! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the EventSpace authors
! A known number of calls, through the binding that the preprocessor selects:
! BINDING_F08, BINDING_MPI, else mpif.h; two ranks.

program fortran_counts
#if defined(BINDING_F08)
    use mpi_f08
    implicit none
    type(MPI_Request) :: requests(2)
    type(MPI_Comm) :: comm
#else
#if defined(BINDING_MPI)
    use mpi
    implicit none
#else
    implicit none
    include 'mpif.h'
#endif
    integer :: requests(2)
    integer :: comm
#endif
    integer :: rank, other, word, answer, error, i

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    other = 1 - rank
    word = rank
    do i = 1, 7
        call MPI_Irecv(answer, 1, MPI_INTEGER, other, i, MPI_COMM_WORLD, requests(1), error)
        call MPI_Isend(word, 1, MPI_INTEGER, other, i, MPI_COMM_WORLD, requests(2), error)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    end do
    do i = 1, 3
        if (rank == 0) then
            call MPI_Send(word, 1, MPI_INTEGER, other, i, MPI_COMM_WORLD, error)
            call MPI_Recv(answer, 1, MPI_INTEGER, other, i, MPI_COMM_WORLD, &
                MPI_STATUS_IGNORE, error)
        else
            call MPI_Recv(answer, 1, MPI_INTEGER, other, i, MPI_COMM_WORLD, &
                MPI_STATUS_IGNORE, error)
            call MPI_Send(word, 1, MPI_INTEGER, other, i, MPI_COMM_WORLD, error)
        end if
        call MPI_Allreduce(word, answer, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    end do
    do i = 1, 2
        call MPI_Sendrecv(word, 1, MPI_INTEGER, other, 9, answer, 1, MPI_INTEGER, other, &
            9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end do
    do i = 1, 5
        call MPI_Barrier(MPI_COMM_WORLD, error)
    end do
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
    call MPI_Comm_free(comm, error)
    call MPI_Finalize(error)
end program
