# C types of sheet.py, used only where it is compiled.
cimport cython

cdef class Tables:
    cdef readonly int places
    cdef int empty_slot, britain, canada, italy
    cdef const unsigned long long[::1] char_fold
    cdef const unsigned char[::1] char_class, char_gap
    cdef const unsigned long long[::1] word_key
    cdef const unsigned int[::1] word_bits
    cdef const unsigned char[::1] name_bloom
    cdef const unsigned int[::1] name_bucket
    cdef const unsigned long long[::1] name_key
    cdef const unsigned int[::1] name_at
    cdef const int[::1] name_facts
    cdef const int[::1] cand_row
    cdef const unsigned char[::1] cand_flag
    cdef const float[::1] cand_prior, cand_fame
    cdef const int[::1] place_facts, state_letters
    cdef const float[::1] place_floats
    cdef const unsigned char[::1] before_capital, before_small, after_capital, after_small
    cdef const unsigned char[::1] capital_abroad, small_abroad

cdef class Sheet:
    cdef const unsigned short[::1] text
    cdef public const unsigned char[::1] word_level
    cdef public bint abroad, declines, locative
    cdef public dict endings
    cdef public int ending_people
    cdef readonly int tokens
    cdef public int[::1] t_start, t_end
    cdef unsigned char[::1] t_class, t_gap, t_caps, t_stopped, t_money, t_cased
    cdef unsigned long long[::1] t_sum, t_power
    cdef public unsigned long long[::1] t_key
    cdef int[::1] t_slot, t_mark, starts_here, ends_here, run_start, run_end, run_bits
    cdef unsigned long long[::1] seen, found_key
    cdef int[::1] found
    cdef readonly int hits
    cdef public int[::1] h_first, h_last, h_name, h_pair, h_unit
    cdef public unsigned char[::1] h_built, h_kept
    cdef unsigned char[::1] h_listed
    cdef int[::1] h_list, u_among
    cdef long long[::1] l_members
    cdef public double[::1] h_probability
    cdef public unsigned char[::1] codes
    cdef readonly int units
    cdef public int[::1] u_name, u_outer, u_first, u_count, u_best, u_at
    cdef public unsigned char[::1] u_plain, u_codes
    cdef public double[::1] u_weight
    cdef int areas, implied_admin1, implied_admin2
    cdef int[::1] area_row, area_last
    cdef unsigned char[::1] area_open, area_town, area_at
    cdef int[::1] near, near_first
    cdef public int[::1] c_row, c_unit
    cdef public unsigned char[::1] c_flag
    cdef unsigned char[::1] c_named
    cdef double[::1] c_prior, c_score
    cdef public double[::1] c_probability
    cdef public float[::1] features
    cdef float[::1] c_near, c_around, c_same, c_host, c_fame
    cdef double[::1] c_x, c_y, c_z, c_people, c_near_sum, c_around_sum
    cdef int[::1] c_admin1, c_admin2, c_country, c_in_admin1, c_in_country
    cdef unsigned char[::1] c_kind
    cdef int anchors, groups
    cdef int[::1] a_cand, a_name, a_in_admin1, a_in_country
    cdef double[::1] a_mass
    cdef unsigned short[::1] group_at
    cdef int[::1] group_row
    cdef double[::1] admin1_mass, country_mass
