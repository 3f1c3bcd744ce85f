C     SPDX-License-Identifier: BSD-3-Clause
C     Copyright (c) 2026 the EventSpace authors
C     The oldest binding, mpif.h: blocking, nonblocking and collective.

      program mpif
      implicit none
      include 'mpif.h'
      integer rank, ranks, left, right, errors, all, ierror
      integer rounds, round
      common /ring/ rank, ranks, left, right, errors

      call options(rounds)
      call MPI_INIT(ierror)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
      left = mod(rank + ranks - 1, ranks)
      right = mod(rank + 1, ranks)
      errors = 0
      do 10 round = 1, rounds
         call blocking(round)
         call nonblocking(round)
         call collective(round)
 10   continue
      call MPI_ALLREDUCE(errors, all, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, ierror)
      if (rank .eq. 0) print '(a,i0,a,i0,a,i0,a)',
     &    'fortran_mpif: ', rounds, ' rounds on ', ranks, ' ranks, ',
     &    all, ' errors'
      call MPI_FINALIZE(ierror)
      if (all .ne. 0) stop 1
      end

C     Parses --rounds N, -h and --help.
      subroutine options(rounds)
      implicit none
      integer rounds, i, status
      character*32 word
      rounds = 200
      i = 1
 10   if (i .gt. command_argument_count()) return
      call get_command_argument(i, word)
      if (word .eq. '--help' .or. word .eq. '-h') then
         print '(a)', 'Usage: fortran_mpif [--rounds N]'
         print '(a)', 'Exchanges messages through mpif.h, checks them.'
         print '(a)', '  --rounds N   rounds (default 200)'
         stop
      end if
      status = 1
      if (word .eq. '--rounds') then
         call get_command_argument(i + 1, word)
         read (word, *, iostat=status) rounds
      end if
      if (status .ne. 0 .or. rounds .lt. 0) then
         write (0, '(2a)') 'fortran_mpif: not understood: ', word
         stop 2
      end if
      i = i + 2
      goto 10
      end

C     Counts an error unless the value is the expected one.
      subroutine expect(value, expected)
      implicit none
      integer value, expected
      integer rank, ranks, left, right, errors
      common /ring/ rank, ranks, left, right, errors
      if (value .ne. expected) errors = errors + 1
      end

C     Odd ranks receive before they send, which prevents a deadlock.
      subroutine blocking(round)
      implicit none
      include 'mpif.h'
      integer round, sent, got, ierror
      integer status(MPI_STATUS_SIZE)
      integer rank, ranks, left, right, errors
      common /ring/ rank, ranks, left, right, errors
      sent = 1000 * round + rank
      got = -1
      if (ranks .eq. 1) then
         call MPI_SENDRECV(sent, 1, MPI_INTEGER, right, 1, got, 1,
     &                     MPI_INTEGER, left, 1, MPI_COMM_WORLD,
     &                     status, ierror)
      else if (mod(rank, 2) .eq. 0) then
         call MPI_SEND(sent, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD,
     &                 ierror)
         call MPI_RECV(got, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD,
     &                 status, ierror)
      else
         call MPI_RECV(got, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD,
     &                 status, ierror)
         call MPI_SEND(sent, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD,
     &                 ierror)
      end if
      call expect(got, 1000 * round + left)
      call expect(status(MPI_SOURCE), left)
      end

C     Both neighbours at once, one with any source, distinguished by tag.
      subroutine nonblocking(round)
      implicit none
      include 'mpif.h'
      integer round, sent, got(2), requests(4), ierror
      integer statuses(MPI_STATUS_SIZE, 4)
      integer rank, ranks, left, right, errors
      common /ring/ rank, ranks, left, right, errors
      sent = 1000 * round + rank
      call MPI_IRECV(got(1), 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD,
     &               requests(1), ierror)
      call MPI_IRECV(got(2), 1, MPI_INTEGER, MPI_ANY_SOURCE, 3,
     &               MPI_COMM_WORLD, requests(2), ierror)
      call MPI_ISEND(sent, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD,
     &               requests(3), ierror)
      call MPI_ISEND(sent, 1, MPI_INTEGER, left, 3, MPI_COMM_WORLD,
     &               requests(4), ierror)
      call MPI_WAITALL(4, requests, statuses, ierror)
      call expect(got(1), 1000 * round + left)
      call expect(got(2), 1000 * round + right)
      call expect(statuses(MPI_SOURCE, 2), right)
      end

C     A sum, and a broadcast.
      subroutine collective(round)
      implicit none
      include 'mpif.h'
      integer round, own, total, root, ierror
      integer rank, ranks, left, right, errors
      common /ring/ rank, ranks, left, right, errors
      own = round + rank
      call MPI_ALLREDUCE(own, total, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, ierror)
      call expect(total, ranks * round + ranks * (ranks - 1) / 2)
      root = mod(round, ranks)
      call MPI_BCAST(own, 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
      call expect(own, round + root)
      call MPI_BARRIER(MPI_COMM_WORLD, ierror)
      end
