! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the EventSpace authors
! The binding of the module mpi_f08: blocking, nonblocking and collective.

program fortran_f08
    use mpi_f08
    implicit none
    integer :: rank, ranks, left, right, errors, all_errors
    integer :: rounds, round

    call read_options(rounds)
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    errors = 0
    do round = 1, rounds
        call exchange_blocking(round)
        call exchange_nonblocking(round)
        call meet_everybody(round)
    end do
    call MPI_Allreduce(errors, all_errors, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) print '(a, i0, a, i0, a, i0, a)', 'fortran_f08: ', rounds, &
        ' rounds on ', ranks, ' ranks, ', all_errors, ' errors'
    call MPI_Finalize()
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
                print '(a)', 'Usage: fortran_f08 [--rounds N]'
                print '(a)', &
                    'Exchanges messages through the module mpi_f08 and checks them.'
                print '(a)', '  --rounds N   rounds (default 200)'
                stop
            end if
            status = 1
            if (word == '--rounds') then
                call get_command_argument(i + 1, word)
                read (word, *, iostat=status) rounds
            end if
            if (status /= 0 .or. rounds < 0) then
                write (0, '(2a)') 'fortran_f08: not understood: ', word
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
        integer :: sent, got
        type(MPI_Status) :: status

        sent = 1000 * round + rank
        got = -1
        if (ranks == 1) then
            call MPI_Sendrecv(sent, 1, MPI_INTEGER, right, 1, got, 1, MPI_INTEGER, &
                              left, 1, MPI_COMM_WORLD, status)
        else if (mod(rank, 2) == 0) then
            call MPI_Send(sent, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD)
            call MPI_Recv(got, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
        else
            call MPI_Recv(got, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
            call MPI_Send(sent, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD)
        end if
        call expect(got, 1000 * round + left)
        call expect(status%MPI_SOURCE, left)
    end subroutine

    ! Both neighbours at once, one with any source, distinguished by tag. Every other
    ! element only: no other binding accepts array sections in nonblocking calls.
    subroutine exchange_nonblocking(round)
        integer, intent(in) :: round
        integer, asynchronous :: sent(6), got(6, 2)
        type(MPI_Request) :: requests(4)
        type(MPI_Status) :: statuses(4)

        sent = 1000 * round + rank
        got = -1
        call MPI_Irecv(got(1:5:2, 1), 3, MPI_INTEGER, left, 2, MPI_COMM_WORLD, &
                       requests(1))
        call MPI_Irecv(got(1:5:2, 2), 3, MPI_INTEGER, MPI_ANY_SOURCE, 3, &
                       MPI_COMM_WORLD, requests(2))
        call MPI_Isend(sent(2:6:2), 3, MPI_INTEGER, right, 2, MPI_COMM_WORLD, &
                       requests(3))
        call MPI_Isend(sent(2:6:2), 3, MPI_INTEGER, left, 3, MPI_COMM_WORLD, &
                       requests(4))
        call MPI_Waitall(4, requests, statuses)
        call expect(sum(got(1:5:2, 1)), 3 * (1000 * round + left))
        call expect(sum(got(1:5:2, 2)), 3 * (1000 * round + right))
        call expect(sum(got(2:6:2, :)), -6)
        call expect(statuses(2)%MPI_SOURCE, right)
    end subroutine

    ! A sum, and a broadcast.
    subroutine meet_everybody(round)
        integer, intent(in) :: round
        integer :: own, total, root

        own = round + rank
        call MPI_Allreduce(own, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        call expect(total, ranks * round + ranks * (ranks - 1) / 2)
        root = mod(round, ranks)
        call MPI_Bcast(own, 1, MPI_INTEGER, root, MPI_COMM_WORLD)
        call expect(own, round + root)
        call MPI_Barrier(MPI_COMM_WORLD)
    end subroutine

end program
