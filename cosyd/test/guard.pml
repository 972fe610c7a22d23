/* SPDX-License-Identifier: MIT */
/*
 * guard.pml - the guard words of cosyd/protocol.h, for spin: two readers of one inode,
 * the keeper of its lease, a writer, and what may befall the keeper at any point: to be
 * killed, or to be stopped while the kernel takes the broken lease away.
 *
 *	- no read returns what was older when it began (staleness);
 *	- nobody waits for ever (no invalid end states): the writer gets in.
 *
 * Memory is sequentially consistent here.  That is no loss: the words are only ever stored
 * by the keeper and the kernel, each store is before a lock of the kernel's (the inode's
 * list of leases) that the writer takes later, and a reader's loads are kept in order by its
 * fence and by acquiring.
 *
 * What each part is there for (spin_test.sh):
 * without the word before the lease: s/word++; lease = false/lease = false; word++/
 * without the look at the word: s/holds = (word == value)/holds = true/
 * without the look at the keeper: s/holds = holds && keeper_alive/skip/
 * without values that never come again: s/= GRANTED(word)/= 1/; s/word++; lease/word = 0; lease/
 * without a window filled behind the grant: s/window_version = version; .. filled .*$/skip;/; s/^	:: ask!TAKE/	:: window_version = version; ask!TAKE/
 * without the owner's end before the leases': s/keeper_alive = false; lease = false/lease = false; keeper_alive = false/
 * without the deadline: s/keeper_alive = false; .. deadline .*$/skip;/
 */
#define WRITES 2

mtype = {TAKE, DROP};

/* The guard memory. */
byte word;
bool keeper_alive = true;

/* Is the keeper neither killed nor stopped? */
bool running = true;

/* The kernel's: the lease, who has the file open for writing, what is in it. */
bool lease, breaking, writer_inside;
byte version;

chan ask = [0] of {mtype, byte};
chan answer[2] = [0] of {byte};

#define GRANTED(word) word + 1

active proctype keeper()
{
	byte refs, who;
	bool granted;

	{
end:		do
		:: breaking ->
			breaking = false;
			if
			:: lease -> word++; lease = false
			:: else
			fi
		:: ask?TAKE,who ->
			granted = lease;
			if
			:: !lease ->
				/* F_SETLEASE: refused while somebody writes, or is about to. */
				atomic {
					if
					:: !writer_inside ->
						lease = true;
						granted = true
					:: else
					fi
				};
				if
				:: granted -> word = GRANTED(word)
				:: else
				fi
			:: else
			fi;
			if
			:: granted ->
				refs++;
				answer[who]!word
			:: else ->
				answer[who]!0
			fi
		:: ask?DROP,who ->
			refs--;
			if
			:: refs == 0 && lease -> word++; lease = false
			:: else
			fi
		od
	} unless {
		!running
	}
}

/* The two loads are apart. */
#define LOOK                                                                                       \
	holds = (word == value);                                                                   \
	holds = holds && keeper_alive

/* A daemon that is gone, or does not answer, is not waited for. */
active [2] proctype reader()
{
	byte window_version, value, began;
	bool holds;

	if
	:: ask!TAKE,_pid - 1 ->
		if
		:: answer[_pid - 1]?value
		:: !running
		fi
	:: !running
	fi;
	if
	:: value ->
		window_version = version; /* filled by ordinary reads */
		/* A read: it returns what the window has, or is made again by the kernel. */
		began = version;
		LOOK;
		assert(!holds || window_version >= began);
		if
		:: ask!DROP,_pid - 1
		:: !running
		fi
	:: else
	fi
}

active proctype writer()
{
	byte writes;

	do
	:: writes == WRITES -> break
	:: else ->
		writer_inside = true;
		atomic {
			if
			:: lease -> breaking = true
			:: else
			fi
		};
		!lease;
		version++;
		writer_inside = false;
		writes++
	od
}

/* The kernel ends a process in this order: memory with its robust futexes, then descriptors. */
active proctype fate()
{
	if
	:: true
	:: running = false; /* killed */
		keeper_alive = false; lease = false
	:: running = false; /* stopped */
		keeper_alive = false; /* deadline before the kernel takes the lease away */
		lease = false
	fi
}
