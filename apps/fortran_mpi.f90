! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the EventSpace authors
! The binding of the module mpi: blocking, nonblocking and collective.

program fortran_mpi
    use mpi
    implicit none
    integer :: rank, ranks, left, right, errors, all_errors, ierror
    integer :: rounds, round

    call read_options(rounds)
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    errors = 0
    do round = 1, rounds
        call exchange_blocking(round)
        call exchange_nonblocking(round)
        call meet_everybody(round)
    end do
    call MPI_Allreduce(errors, all_errors, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
                       ierror)
    if (rank == 0) print '(a, i0, a, i0, a, i0, a)', 'fortran_mpi: ', rounds, &
        ' rounds on ', ranks, ' ranks, ', all_errors, ' errors'
    call MPI_Finalize(ierror)
    if (all_errors /= 0) stop 1

contains

    ! Parses --rounds N, -h and --help.
    subroutine read_options(rounds)
        integer, intent(out) :: rounds
        integer :: i, status
        character(len=32) :: word

        rounds = 200
        i = 1
        do while (i <= command_argument_count())
            call get_command_argument(i, word)
            if (word == '--help' .or. word == '-h') then
                print '(a)', 'Usage: fortran_mpi [--rounds N]'
                print '(a)', &
                    'Exchanges messages through the module mpi and checks them.'
                print '(a)', '  --rounds N   rounds (default 200)'
                stop
            end if
            status = 1
            if (word == '--rounds') then
                call get_command_argument(i + 1, word)
                read (word, *, iostat=status) rounds
            end if
            if (status /= 0 .or. rounds < 0) then
                write (0, '(2a)') 'fortran_mpi: not understood: ', word
                stop 2
            end if
            i = i + 2
        end do
    end subroutine

    subroutine expect(value, expected)
        integer, intent(in) :: value, expected

        if (value /= expected) errors = errors + 1
    end subroutine

    ! Odd ranks receive before they send, which prevents a deadlock.
    subroutine exchange_blocking(round)
        integer, intent(in) :: round
        integer :: sent, got, status(MPI_STATUS_SIZE)

        sent = 1000 * round + rank
        got = -1
        if (ranks == 1) then
            call MPI_Sendrecv(sent, 1, MPI_INTEGER, right, 1, got, 1, MPI_INTEGER, &
                              left, 1, MPI_COMM_WORLD, status, ierror)
        else if (mod(rank, 2) == 0) then
            call MPI_Send(sent, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierror)
            call MPI_Recv(got, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status, ierror)
        else
            call MPI_Recv(got, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status, ierror)
            call MPI_Send(sent, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierror)
        end if
        call expect(got, 1000 * round + left)
        call expect(status(MPI_SOURCE), left)
    end subroutine

    ! Both neighbours at once, one with any source, distinguished by tag.
    subroutine exchange_nonblocking(round)
        integer, intent(in) :: round
        integer, asynchronous :: sent, got(2)
        integer :: requests(4), statuses(MPI_STATUS_SIZE, 4)

        sent = 1000 * round + rank
        call MPI_Irecv(got(1), 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(1), &
                       ierror)
        call MPI_Irecv(got(2), 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &
                       requests(2), ierror)
        call MPI_Isend(sent, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, requests(3), &
                       ierror)
        call MPI_Isend(sent, 1, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(4), &
                       ierror)
        call MPI_Waitall(4, requests, statuses, ierror)
        call expect(got(1), 1000 * round + left)
        call expect(got(2), 1000 * round + right)
        call expect(statuses(MPI_SOURCE, 2), right)
    end subroutine

    ! A sum, and a broadcast.
    subroutine meet_everybody(round)
        integer, intent(in) :: round
        integer :: own, total, root

        own = round + rank
        call MPI_Allreduce(own, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
        call expect(total, ranks * round + ranks * (ranks - 1) / 2)
        root = mod(round, ranks)
        call MPI_Bcast(own, 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
        call expect(own, round + root)
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
    end subroutine

end program
