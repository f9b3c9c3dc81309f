mod compare;
