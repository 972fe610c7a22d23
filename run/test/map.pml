/* SPDX-License-Identifier: MIT */
/*
 * map.pml - readers of a mapped window and who takes it away, as run/file/map.h has it, for spin:
 * two threads read, one takes the window away (the handler of a broken lease, at any point
 * of either), and one maps the file again, at the same place among the windows.
 *
 *	- nobody touches addresses where nothing is mapped;
 *	- what was copied from anything but the file does not count;
 *	- when the window has been taken away, the file is let go.
 *
 * What each part is there for (spin_test.sh):
 * without the second look at the word: s/:: SAME_WORD -> .. counted in/:: true ->  \/* counted in/
 * without the count: s/:: readers == 0 -> .. nobody is there/:: true -> \/* nobody is there/
 * without zeros in its place: s/addresses = ZEROS/addresses = NOTHING/
 * without a count that is looked at under the hold: s/hold(); .. then the count/nobody = (readers == 0); hold();/; s/:: readers == 0 -> .. nobody is there .*$/:: nobody ->/
 */
#define ROUNDS 2

mtype = {NOTHING, THE_FILE, ZEROS};

bool held, specialised;
byte generation;

/* The file's window, and the window itself. */
bool file_has_map;
mtype addresses = NOTHING;
bool in_use;
byte readers;

#define SAME_WORD (!held && specialised && generation == was_generation)

inline hold()
{
	atomic {
		!held;
		held = true
	}
}

inline release(is_specialised)
{
	d_step {
		specialised = is_specialised;
		generation++;
		held = false
	}
}

proctype reader()
{
	byte was_generation, rounds;
	bool was_file;

	do
	:: rounds == ROUNDS ->
		break
	:: rounds < ROUNDS ->
		rounds++;
		if
		:: !held && specialised ->
			was_generation = generation;
			if
			:: file_has_map ->
				readers++;
				if
				:: SAME_WORD -> /* counted in */
					/* A copy takes its time. */
					assert(addresses != NOTHING);
					was_file = (addresses == THE_FILE);
					assert(addresses != NOTHING);
					was_file = was_file && addresses == THE_FILE;
					readers--;
					if
					:: SAME_WORD ->
						assert(was_file)
					:: else
					fi
				:: else ->
					readers--
				fi
			:: else
			fi
		:: else
		fi
	od
}

bool nobody;

inline take_away()
{
	file_has_map = false;
	if
	:: readers == 0 -> /* nobody is there */
		addresses = NOTHING;
		in_use = false
	:: else ->
		/* In use until nobody is in it: map_again. */
		addresses = ZEROS
	fi;
	assert(addresses != THE_FILE)
}

inline map_again()
{
	if
	:: in_use && !file_has_map && readers == 0 ->
		addresses = NOTHING;
		in_use = false
	:: else
	fi;
	if
	:: !in_use ->
		in_use = true;
		addresses = THE_FILE;
		file_has_map = true
	:: else
	fi
}

proctype taker()
{
	byte rounds;

	do
	:: rounds == ROUNDS ->
		break
	:: rounds < ROUNDS ->
		rounds++;
		hold(); /* then the count */
		if
		:: file_has_map ->
			take_away()
		:: else
		fi;
		release(false)
	od
}

proctype mapper()
{
	byte rounds;

	do
	:: rounds == ROUNDS ->
		break
	:: rounds < ROUNDS ->
		rounds++;
		hold();
		if
		:: !file_has_map ->
			map_again()
		:: else
		fi;
		release(true)
	od
}

init
{
	atomic {
		run reader();
		run reader();
		run taker();
		run mapper()
	}
}
