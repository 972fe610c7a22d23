/* SPDX-License-Identifier: MIT */
/*
 * replug.pml - the replugging algorithm of run/file/file.h, for spin: two threads read
 * records from one descriptor, a keeper has its lease (guard.pml has more of that one), and a
 * writer changes the file.
 *
 *	- each record is read exactly once;
 *	- no read returns what was older when it began (staleness);
 *	- nobody waits for ever (no invalid end states): the writer gets in.
 *
 * What each part is there for (spin_test.sh):
 * without the inside-flag: s/was_plain && inside == 0 ->/was_plain ->/
 * without the second look at a held file: s/:: !was_plain && !guard ->/:: !guard ->/
 * without the look at the guard: s/holds = guard/holds = true/
 * without the word's exchange: s/holds && SAME_WORD ->$/holds ->/
 */
#define RECORDS 2
#define TRIES	1 /* of each reader to specialise the file */
#define WRITES	2

/* The word. */
bool plain = true, held;
byte generation, position;

/* Under LOCKED. */
byte window_version;

/* The kernel's: position, lease, who has the file open for writing, what is in it. */
byte kernel_position;
bool lease, breaking, writer_inside;
byte version;

/* Is the guard word what it was when the lease was granted? */
bool guard;

/* The library's inside-flag. */
byte inside;

byte seen[RECORDS];
byte finished;

#define SAME_WORD                                                                                  \
	(plain == was_plain && held == was_held && generation == was_generation &&                 \
	 position == was_position)

inline load_word()
{
	d_step {
		was_plain = plain;
		was_held = held;
		was_generation = generation;
		was_position = position
	}
}

inline hold()
{
	atomic {
		!held;
		was_plain = plain;
		was_position = position;
		held = true;
		plain = true
	}
}

inline release(to_plain, to_position)
{
	d_step {
		plain = to_plain;
		position = to_position;
		generation++;
		held = false
	}
}

/* F_SETLEASE: refused while somebody has the file open for writing, or is about to. */
inline specialise()
{
	hold();
	if
	:: was_plain && inside == 0 ->
		to_position = kernel_position;
		atomic {
			if
			:: !writer_inside ->
				lease = true;
				guard = true;
				granted = true
			:: else ->
				granted = false
			fi
		};
		if
		:: granted ->
			window_version = version;
			release(false, to_position)
		:: else ->
			release(true, 0)
		fi
	:: else ->
		to_position = was_position;
		release(was_plain, to_position)
	fi
}

/* By the first reader who finds the lease broken; position first: ordinary reads wait at LOCKED. */
inline replug()
{
	hold();
	if
	:: !was_plain && !guard ->
		kernel_position = was_position;
		release(true, 0)
	:: else ->
		to_position = was_position;
		release(was_plain, to_position)
	fi
}

active [2] proctype reader()
{
	bool was_plain, was_held, granted, done, holds;
	byte was_generation, was_position, to_position, tries, began, got;

	do
	:: done -> break
	:: else ->
		began = version;
		load_word();
		if
		:: was_held -> /* the holding tank */
			!held
		:: !was_held && was_plain && tries < TRIES ->
			tries++;
			specialise()
		:: !was_held && was_plain ->
			inside++;
			if
			:: SAME_WORD ->
				/* The kernel's read has a lock of its own. */
				d_step {
					if
					:: kernel_position < RECORDS ->
						seen[kernel_position]++;
						kernel_position++
					:: else ->
						done = true
					fi
				};
				inside--
			:: else ->
				inside--
			fi
		:: !was_plain && !guard ->
			replug()
		:: !was_plain && was_position == RECORDS ->
			if
			:: SAME_WORD -> done = true
			:: else
			fi
		:: !was_plain && was_position < RECORDS ->
			got = window_version;
			holds = guard;
			d_step {
				if
				:: !holds
				:: holds && SAME_WORD ->
					assert(got >= began);
					seen[position]++;
					position++
				:: else
				fi;
				/* Fewer states to tell apart. */
				got = 0;
				holds = false
			}
		fi
	od;
	finished++
}

active proctype keeper()
{
end:	do
	:: breaking ->
		breaking = false;
		guard = false;
		lease = false
	od
}

active proctype writer()
{
	byte writes;

	do
	:: writes == WRITES -> break
	:: else ->
		/* The kernel counts the writer, then breaks leases, then waits. */
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

active proctype judge()
{
	byte record;

	finished == 2;
	do
	:: record == RECORDS -> break
	:: else ->
		assert(seen[record] == 1);
		record++
	od
}
