/* SPDX-License-Identifier: MIT */
/*
 * replug.pml - the replugging algorithm of preload/file/file.h, for spin: two threads read
 * records from one descriptor, one of them may be interrupted anywhere by the handler of a
 * broken lease (which is modelled as a third process: it may run at any point of either),
 * and a writer changes the file.
 *
 *	- each record is read exactly once;
 *	- no read returns what was older when it began (staleness);
 *	- nobody waits for ever (no invalid end states): the writer gets in.
 *
 * What each part is there for (spin_test.sh):
 * without the inside-flag: s/was_plain && inside == 0 ->/was_plain ->/
 * without the handler's look at HELD: s/:: plain && !held$/:: plain/
 * without the word's exchange: s/:: SAME_WORD ->$/:: true ->/
 */
#define RECORDS 2
#define TRIES	1 /* of each reader to specialise the file */
#define WRITES	2

/* The word. */
bool plain = true, held;
byte generation, position;

/* Under HELD. */
byte window_version;

/* The kernel's: position, lease, who has the file open for writing, what is in it. */
byte kernel_position;
bool lease, breaking, writer_inside;
byte version;

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

active [2] proctype reader()
{
	bool was_plain, was_held, granted, done;
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
		:: !was_plain && was_position == RECORDS ->
			if
			:: SAME_WORD -> done = true
			:: else
			fi
		:: !was_plain && was_position < RECORDS ->
			got = window_version;
			d_step {
				if
				:: SAME_WORD ->
					assert(got >= began);
					seen[position]++;
					position++
				:: else
				fi
			}
		fi
	od;
	finished++
}

active proctype handler()
{
	bool was_plain;
	byte was_position;

end:	do
	:: breaking ->
		breaking = false;
		if
		:: plain && !held
		:: else ->
			hold();
			if
			:: !was_plain ->
				/* Position first, then the lease: ordinary reads wait at HELD. */
				kernel_position = was_position;
				lease = false;
				release(true, 0)
			:: else ->
				release(true, 0)
			fi
		fi
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
